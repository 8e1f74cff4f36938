import Importing
import Yams

extension YAMLValue {
  private enum FieldKey: String, CaseIterable { case name, width, start, end }

  /// Columns of fixed width: `{name: id, width: 5}` or `{name: id, start: 1, end: 5}`, in short `id:5` or `id:1-5`.
  func fields() -> [FixedWidthLayout.Column]? {
    guard let elements = fieldElements() else { return nil }
    if elements.isEmpty { wrongType("a list of at least one column") }
    let columns = elements.compactMap { $0.field() }
    return columns.count == elements.count ? columns : nil
  }

  /// The list; where texts stand for other types, also one with commas between its elements.
  private func fieldElements() -> [YAMLValue]? {
    guard reader.takesTextsForNumbers, let text = node.scalar?.string else {
      return elements(of: "columns such as id:5")
    }
    return text.split(separator: ",", omittingEmptySubsequences: false).enumerated().map {
      YAMLValue(key: "\(key)[\($0 + 1)]", node: Node(String($1), Tag(.str), .doubleQuoted), reader: reader)
    }
  }

  private func field() -> FixedWidthLayout.Column? {
    guard node.scalar == nil else { return shortField() }
    guard let section = YAMLSection<FieldKey>(self) else { return nil }
    let places = 1...(1 << 30)
    let name = section.required(.name, "the column's name")?.anyText()
    let column = FixedWidthLayout.Column(
      name ?? "", width: section[.width]?.integer(places), start: section[.start]?.integer(places),
      end: section[.end]?.integer(places))
    return name == nil ? nil : column
  }

  private func shortField() -> FixedWidthLayout.Column? {
    guard let text = anyText() else { return nil }
    if let column = FixedWidthLayout.Column(short: text) { return column }
    wrong(FixedWidthLayout.Column.shortForm)
    return nil
  }
}
