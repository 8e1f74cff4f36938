// What a hand-over from another file system leaves to do: a note beside the copy in `active/`, written before the copy has
// its name, that says which entry of `incoming/` it is a copy of. The entry is removed after the copy is there, and the note
// when that is on disk. So whatever a kill leaves, the note says whether an entry that still lies there was taken, and
// another that has come under its name is never mistaken for it.

/// A note of an entry that is to be removed.
struct HandOverRest: Equatable {
  /// The hot folder's recipe; nil for `incoming/` itself.
  let recipe: String?
  let name: FileName
  let mark: FileMark

  /// What the note is called of the copy that is to be called `target`.
  static func name(of target: FileName) -> FileName { FileName(".\(target.text ?? "copy")\(suffix)") }

  /// What the copy is called that a name in `active/` is the note of, or nil if it isn't a note's.
  static func target(ofName name: FileName) -> FileName? {
    guard let text = name.text, text.hasPrefix("."), text.hasSuffix(suffix) else { return nil }
    return FileName(String(text.dropFirst().dropLast(suffix.count)))
  }

  private static let suffix = ".rest"
  static let longest = 4096

  var bytes: [UInt8] { Array((recipe ?? "").utf8) + [0] + Array(name.bytes) + [0] + Array(mark.description.utf8) }

  init(recipe: String?, name: FileName, mark: FileMark) {
    (self.recipe, self.name, self.mark) = (recipe, name, mark)
  }

  /// Nil for a note that isn't whole, as a failing disk leaves it.
  init?(bytes: [UInt8]) {
    let parts = bytes.split(separator: 0, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[1].isEmpty, let recipe = String(validating: parts[0], as: UTF8.self),
      let mark = String(validating: parts[2], as: UTF8.self)
    else { return nil }
    self.recipe = recipe.isEmpty ? nil : recipe
    name = FileName(terminated: parts[1].map { CChar(bitPattern: $0) } + [0])
    self.mark = FileMark(text: mark)
  }
}
