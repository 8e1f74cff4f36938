/// Parts of file names. These are text only: no file is opened by them.
enum FileNames {
  /// The name without folders.
  static func last(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  /// The name without folders and without the endings of format and compression.
  static func base(of path: String) -> String {
    var name = last(of: path)
    if let compressed = SourceCompression.ofName(name) { name = compressed.inner }
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
    let ending = name[name.index(after: dot)...]
    // `v1.2` is a name; endings are short and begin with a letter.
    guard (1...8).contains(ending.count), ending.first?.isLetter == true else { return name }
    return String(name[..<dot])
  }
}
