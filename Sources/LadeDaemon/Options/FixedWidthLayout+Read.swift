import Importing

extension YAMLValue {
  private enum FieldKey: String, CaseIterable { case name, width, start, end }

  /// Columns of fixed width: `{name: id, width: 5}` or `{name: id, start: 1, end: 5}`, in short `id:5` or `id:1-5`.
  func readFields(into layout: inout FixedWidthLayout?) {
    guard let elements = elements(of: "columns such as id:5") else { return }
    if elements.isEmpty { wrongType("a list of at least one column") }
    let columns = elements.compactMap { $0.field() }
    guard columns.count == elements.count else { return }
    if layout == nil { layout = FixedWidthLayout(columns: columns) } else { layout?.columns = columns }
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
    if let colon = text.lastIndex(of: ":"), colon > text.startIndex {
      let name = String(text[..<colon])
      let places = text[text.index(after: colon)...].split(separator: "-", omittingEmptySubsequences: false).map {
        Int($0)
      }
      if places.count == 1, let width = places[0] { return .init(name, width: width) }
      if places.count == 2, let start = places[0], let end = places[1] { return .init(name, start: start, end: end) }
    }
    wrong("write the name and its width, such as id:5, or its first and last place, such as id:1-5")
    return nil
  }
}
