/// A pattern for names: `*` is any text, `?` any one character, folders' slashes included. It takes time by the product
/// of the lengths at most, whoever wrote it.
struct MemberPattern {
  private let parts: [Unicode.Scalar]

  init(_ text: String) { parts = Array(text.unicodeScalars) }

  func matches(_ name: String) -> Bool {
    let text = Array(name.unicodeScalars)
    var part = 0
    var place = 0
    var star: (part: Int, place: Int)?
    while place < text.count {
      if part < parts.count, parts[part] == "*" {
        star = (part, place)
        part += 1
      } else if part < parts.count, parts[part] == "?" || parts[part] == text[place] {
        part += 1
        place += 1
      } else if let last = star {
        // The last star takes one character more.
        star = (last.part, last.place + 1)
        part = last.part + 1
        place = last.place + 1
      } else {
        return false
      }
    }
    return parts[part...].allSatisfy { $0 == "*" }
  }
}
