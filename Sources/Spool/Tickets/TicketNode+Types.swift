import Foundation
import LadeTypes
import Yams

extension TicketNode {
  /// One of an enumeration's words.
  func word<Word: CaseIterable & RawRepresentable<String>>(of type: Word.Type) throws(TicketError) -> Word {
    let text = try self.text()
    if let word = Word(rawValue: text) { return word }
    let words = Word.allCases.map(\.rawValue)
    let nearest = NearestName.of(text, among: words).map { "did you mean `\($0)`?" }
    throw wrong(nearest ?? "it is one of \(words.joined(separator: ", "))")
  }

  func flag() throws(TicketError) -> Bool {
    guard case .bool(let flag) = try scalar() else { throw wrongType("true or false") }
    return flag
  }

  /// The elements of a list; a single value is a list of one.
  func elements() throws(TicketError) -> [TicketNode] {
    guard case .sequence(let sequence) = node else {
      if case .scalar = node { return [self] }
      throw wrongType("a list")
    }
    return sequence.map { TicketNode(key: key, node: $0) }
  }

  /// A length of time in seconds: a number of them, or one with its unit.
  func duration() throws(TicketError) -> TimeInterval {
    guard case .scalar(let scalar) = node else { throw wrongType("a length of time such as 30s or 2h") }
    guard let duration = Duration(parsing: scalar.string, allowsBareSeconds: true), duration > .zero
    else { throw wrong("write a number and its unit (ms, s, m, h, d), such as 30s or 2h") }
    return duration.seconds
  }

  /// The values of a mapping of which all keys are known.
  func mapping<Key: CaseIterable & RawRepresentable<String> & Hashable>(
    of type: Key.Type
  ) throws(TicketError) -> [Key: TicketNode] {
    guard case .mapping(let mapping) = node else { throw wrongType("a mapping of keys to values") }
    var values: [Key: TicketNode] = [:]
    for (name, value) in mapping {
      let line = TicketMark(name).line
      let word = try TicketMapping.word(name, line: line)
      guard let known = Key(rawValue: word) else {
        let words = Key.allCases.map(\.rawValue).sorted()
        let shown = FileName(String(word.prefix(80))).shown
        throw .unknownKey(
          "\(key).\(shown)", line: line, nearest: NearestName.of(word, among: words).map { "\(key).\($0)" },
          known: words)
      }
      values[known] = TicketNode(key: "\(key).\(word)", node: value)
    }
    return values
  }
}
