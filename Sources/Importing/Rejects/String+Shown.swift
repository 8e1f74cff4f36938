extension String {
  /// For messages and notes: the text, or the beginning of one that is longer than anybody reads. A cell may have megabytes.
  var shown: String {
    if utf8.count <= 200 { return self }
    // By scalars: a character may be of any length, too.
    return String(String.UnicodeScalarView(unicodeScalars.prefix(60))) + "…"
  }
}
