extension String {
  /// What stands between these ASCII characters, without what is empty. By bytes: an element's name may begin with an accent,
  /// which Swift takes for a part of the character before it.
  func parts(between separator: Unicode.Scalar) -> [String] {
    unicodeScalars.split(separator: separator).map { String($0) }
  }
}
