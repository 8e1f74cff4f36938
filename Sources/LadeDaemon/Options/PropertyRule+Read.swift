import Importing

private enum OtherValues: String, CaseIterable { case keep, reject }

extension YAMLValue {
  /// What is said of each property: a mapping, or just the name of its column. What was said of one before stays where nothing
  /// is said now.
  func readProperties(into properties: inout [String: PropertyRule]) {
    guard let entries = entries(of: "a mapping of attributes and relationships to what becomes them") else { return }
    for entry in entries {
      var rule = properties[entry.name] ?? PropertyRule()
      if entry.value.node.scalar != nil {
        if let column = entry.value.anyText() { (rule.column, rule.constant) = (column, nil) }
      } else if let section = YAMLSection<PropertyRuleKey>(entry.value) {
        rule.read(section)
      }
      properties[entry.name] = rule
    }
  }
}

extension PropertyRule {
  fileprivate mutating func read(_ section: YAMLSection<PropertyRuleKey>) {
    // A constant goes in place of a column or default that was said before, and the other way round.
    if section[.constant] != nil { (column, defaultValue) = (nil, nil) }
    if section[.column] != nil || section[.defaultValue] != nil { constant = nil }
    if let name = section[.column]?.anyText() { column = name }
    if let text = section[.constant]?.anyText(orEmpty: true) { constant = text }
    if let text = section[.defaultValue]?.anyText(orEmpty: true) { defaultValue = text }
    if let texts = section[.nulls]?.texts() { nulls = texts }
    if let flag = section[.trim]?.flag() { trims = flag }
    if let format = section[.dateFormat]?.anyText() { dateFormat = format }
    if let name = section[.timeZone]?.text() { timeZone = name }
    if let text = section[.decimalSeparator]?.anyText() { decimalSeparator = text }
    if let text = section[.groupingSeparator]?.anyText() { groupingSeparator = text }
    if let words = section[.trueWords]?.texts() { trueWords = words }
    if let words = section[.falseWords]?.texts() { falseWords = words }
    if let map = section[.values]?.textMap() { values = map }
    if let word = section[.otherValues]?.word(of: OtherValues.self) { refusesOtherValues = word == .reject }
    if let text = section[.separator]?.anyText() { separator = text }
    if let name = section[.key]?.text() { key = name }
    if let flag = section[.create]?.flag() { creates = flag }
    if let word = section[.unresolved]?.word(of: Unresolved.self) { unresolved = word }
    if constant != nil, section[.constant] != nil { section[.column]?.conflict("`constant` says what the value is") }
    if refusesOtherValues, values == nil {
      section[.otherValues]?.conflict("there are no `values` that it could be said of")
    }
  }
}
