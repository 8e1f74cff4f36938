import Foundation

/// The folder that relative paths begin in: that of the configuration's first file, whichever file they stand in.
struct ConfigurationFolder {
  let path: String

  /// The folder of a file, itself perhaps relative to the working directory.
  init(of file: String) {
    path = ConfigurationFolder.normalised(ConfigurationFolder.working.resolve(file) + "/..")
  }

  private init(path: String) { self.path = path }

  /// The folder that the process was started in.
  static var working: ConfigurationFolder { ConfigurationFolder(path: FileManager.default.currentDirectoryPath) }

  /// The path made absolute, and without `.`, `..` and doubled slashes. Links aren't looked at: `a/link/..` is `a`.
  func resolve(_ text: String) -> String {
    ConfigurationFolder.normalised(text.hasPrefix("/") ? text : path + "/" + text)
  }

  private static func normalised(_ absolute: String) -> String {
    var parts: [Substring] = []
    for part in absolute.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }
}

extension YAMLValue {
  /// A path, made absolute.
  func path(in folder: ConfigurationFolder) -> String? {
    guard let text = text() else { return nil }
    if text == "~" || text.hasPrefix("~/") {
      wrong("`~` means nothing here; write the folder out")
      return nil
    }
    let path = (reader.isVariable ? .working : folder).resolve(text)
    guard path.utf8.count < 4096 else {
      wrong("it is longer than a path may be (4095 bytes)")
      return nil
    }
    return path
  }
}

extension YAMLValue.Entry {
  /// Whether the name can be that of a folder and of an argument; reports a name that can't.
  var isNamedWell: Bool {
    if Self.isName(name) { return true }
    let problem = "a name has 1 to 64 letters, digits, `_` and `-`, and doesn't begin with `-`"
    report(.wrongValue(key: value.key, value: String(name.prefix(80)), problem: problem))
    return false
  }

  /// Whether a text can be the name of a folder and of an argument.
  static func isName(_ name: String) -> Bool {
    let isName = name.utf8.allSatisfy { byte in
      switch UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 {
      case true: true
      case false:
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
      }
    }
    return isName && (1...64).contains(name.utf8.count) && !name.hasPrefix("-")
  }
}
