/// What can be said of one attribute or relationship, under `properties`, wherever options are written.
package enum PropertyRuleKey: String, CaseIterable, Sendable {
  case column, constant
  case defaultValue = "default"
  case nulls, trim
  case dateFormat = "date_format"
  case timeZone = "time_zone"
  case decimalSeparator = "decimal_separator"
  case groupingSeparator = "grouping_separator"
  case trueWords = "true_words"
  case falseWords = "false_words"
  case values
  case otherValues = "other_values"
  case separator, key, create, unresolved
}
