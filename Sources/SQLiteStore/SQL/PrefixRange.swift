/// Strings with a prefix are a range in the order of their UTF-8 bytes, which is also the order of their scalars.
enum PrefixRange {
  /// The first string after all that begin with `prefix`; nil if there is none.
  static func end(of prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      // The scalar after D7FF is E000: between them stand the surrogates, which UTF-8 doesn't have.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      if let successor = Unicode.Scalar(next) {
        scalars.append(successor)
        return String(String.UnicodeScalarView(scalars))
      }
    }
    return nil
  }
}
