import ManagedObjects

/// A recipe's rules for the cells of one property, compiled.
///
/// A text is processed in this order: the spaces around it are removed, if it is to be trimmed; it is null, if it is one of
/// the nulls; it has the given meaning, if it is one of the values; otherwise it is converted by the recipe's notation for
/// numbers, dates or booleans.
final class CellRules: Sendable {
  let trims: Bool
  let nulls: TextSet?
  let separators: NumberSeparators?
  let marks: NumberMarks?
  let words: BooleanWords?
  /// The zone of dates that don't give one.
  let zone: LocalTime?
  /// What separates the strings of a list.
  let separator: String?
  /// Whether bytes are base64 by the recipe, even where they could be hexadecimal digits.
  let isBase64: Bool
  private let values: (texts: TextSet, values: [Value], list: String)?
  let refusesOtherValues: Bool

  /// The rules of a property; nil if they make no difference to values of this type.
  ///
  /// - Parameters:
  ///   - rule: the property's rule, with the recipe's `nulls` and `trims` if it has none of its own.
  ///   - plain: the converter of the property's values without rules.
  /// - Throws: `ConverterError` if the rule contains something impossible, or something that has no meaning for this type.
  static func of(_ rule: PropertyRule, _ plain: ValueConverter) throws(ConverterError) -> CellRules? {
    try checkUses(of: rule, plain)
    let rules = try CellRules(checked: rule, plain, values: nil)
    guard let given = rule.values, !given.isEmpty else { return rules.isTrivial(plain) ? nil : rules }
    let converter = ValueConverter(plain, following: rules)
    let sorted = given.sorted { $0.key < $1.key }
    var values: [Value] = []
    for (text, meaning) in sorted {
      // In a list, values replace its strings.
      values.append(
        plain.base == .list
          ? meaning.isEmpty ? .null : .string(meaning) : try converter.given(meaning, as: "values", for: text))
    }
    let texts = sorted.map(\.key)
    let list = texts.prefix(20).joined(separator: ", ") + (texts.count > 20 ? ", …" : "")
    return try CellRules(checked: rule, plain, values: (TextSet(texts), values, list))
  }

  private init(
    checked rule: PropertyRule, _ plain: ValueConverter, values: (TextSet, [Value], String)?
  ) throws(ConverterError) {
    let name = plain.attribute.name
    trims = rule.trims ?? false
    nulls = rule.nulls.flatMap { $0.isEmpty ? nil : TextSet($0) }
    separators =
      rule.decimalSeparator == nil && rule.groupingSeparator == nil
      ? nil : try NumberSeparators(fraction: rule.decimalSeparator, group: rule.groupingSeparator, attribute: name)
    marks =
      rule.unit == nil && rule.negatives ?? .minus == .minus
      ? nil : try NumberMarks(unit: rule.unit, negatives: rule.negatives, attribute: name)
    words =
      rule.trueWords == nil && rule.falseWords == nil
      ? nil : try BooleanWords(trueWords: rule.trueWords, falseWords: rule.falseWords, attribute: name)
    zone = try Self.zone(rule.timeZone, attribute: name)
    separator = rule.separator
    isBase64 = rule.binaryEncoding == .base64
    self.values = values
    refusesOtherValues = rule.refusesOtherValues
  }

  private static func zone(_ name: String?, attribute: String) throws(ConverterError) -> LocalTime? {
    guard let name else { return nil }
    return try LocalTime(name, attribute: attribute)
  }

  /// Whether a converter without rules would do the same.
  private func isTrivial(_ plain: ValueConverter) -> Bool {
    nulls == nil && separators == nil && marks == nil && words == nil && zone == nil && separator == nil && !isBase64
      && !(trims && plain.base == .string)
  }

  private static func checkUses(of rule: PropertyRule, _ plain: ValueConverter) throws(ConverterError) {
    let attribute = plain.attribute
    func check(_ option: String, _ isGiven: Bool, _ isUseful: Bool) throws(ConverterError) {
      guard isGiven, !isUseful else { return }
      throw .uselessOption(attribute: attribute.name, option: option, type: attribute.type.rawValue)
    }
    let isNumber = [.integer, .decimal, .double, .float].contains(plain.base)
    try check("date_format", rule.dateFormat != nil, attribute.type == .date)
    try check("time_zone", rule.timeZone != nil, attribute.type == .date)
    try check("decimal_separator", rule.decimalSeparator != nil, isNumber)
    try check("grouping_separator", rule.groupingSeparator != nil, isNumber)
    try check("unit", rule.unit != nil, isNumber)
    try check("negatives", rule.negatives != nil, isNumber)
    try check("true_words", rule.trueWords != nil, attribute.type == .boolean)
    try check("separator", rule.separator != nil, plain.base == .list)
    try check("binary_encoding", rule.binaryEncoding != nil, attribute.type == .binaryData)
    if rule.separator == "" {
      throw .badOption(
        attribute: attribute.name, option: "separator", value: "",
        reason: "must not be empty: give the text between two strings")
    }
    try check("false_words", rule.falseWords != nil, attribute.type == .boolean)
    if let name = rule.timeZone, [.unixTime, .unixMillis, .unixMicros].contains(plain.base) {
      throw .badOption(
        attribute: attribute.name, option: "time_zone", value: name,
        reason: "has no effect with \(plain.dateFormat ?? ""), which is the same everywhere: leave it out")
    }
    if rule.refusesOtherValues, rule.values?.isEmpty ?? true {
      throw .badOption(
        attribute: attribute.name, option: "other_values", value: "reject",
        reason: "refuses everything, as there are no values: list them in values, or leave it out")
    }
  }

  /// The meaning of a text, which has been trimmed; nil if the rules don't give one.
  func value(of text: UnsafeRawBufferPointer) throws(ConversionCode) -> Value? {
    if let nulls, nulls.contains(text) { return .null }
    guard let values else { return nil }
    if let number = values.texts.find(text) { return values.values[number] }
    if refusesOtherValues { throw .unknownValue }
    return nil
  }

  /// What error messages add about the expected texts.
  var expectation: String? {
    let number = [separators?.words, marks?.words].compactMap { $0 }.filter { !$0.isEmpty }
    if !number.isEmpty { return " " + number.joined(separator: ", ") }
    return separator.map { " of strings with “\($0)” between them, or an array of strings" }
  }

  /// The texts that would have been accepted, for an error with this code.
  func listed(_ code: ConversionCode) -> String? {
    switch code {
    case .unknownValue: return values?.list
    case .notABoolean: return words?.description
    default: return nil
    }
  }
}
