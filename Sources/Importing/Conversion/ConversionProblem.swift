package import ManagedObjects

/// Why a cell can't be converted to its attribute's type: what a conversion throws. One byte, so that refusing a cell costs
/// nothing; `ValueConverter.problem(_:text:)` turns it into words.
package enum ConversionCode: String, Error, Sendable, Hashable, Codable {
  case notAnInteger = "not_an_integer"
  case notANumber = "not_a_number"
  case notABoolean = "not_a_boolean"
  case notADate = "not_a_date"
  case notAUUID = "not_a_uuid"
  case notAURI = "not_a_uri"
  case notBase64 = "not_base64"
  case notHexadecimal = "not_hexadecimal"
  /// Bytes that may be base64 as well as hexadecimal digits.
  case ambiguousBinary = "ambiguous_binary"
  /// A number that the type can't hold.
  case outOfRange = "out_of_range"
  /// A decimal number with more than 38 significant digits.
  case tooPrecise = "too_precise"
  /// A text that the recipe gives no value for.
  case unknownValue = "unknown_value"
  /// A JSON number or boolean where the type accepts text only.
  case wrongKind = "wrong_kind"
  /// A spreadsheet's error, such as `#N/A`.
  case cellError = "cell_error"
  /// A formula of a spreadsheet that no program has computed.
  case formulaWithoutValue = "formula_without_value"
}

/// A cell that couldn't be converted, with everything that a message needs.
package struct ConversionProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable short name, for reject files and scripts.
  package let code: ConversionCode
  /// The attribute that the cell was meant for.
  package let attribute: String
  /// The attribute's type, and the expected format of a date.
  package let expected: String
  /// The texts that would have been accepted, if a recipe lists them.
  package var words: String?
  /// The first 60 characters of the cell.
  package let text: String

  package var description: String { "\(attribute): “\(text)” \(reason)" }

  /// The problem, without the text and the attribute.
  var reason: String {
    switch code {
    case .notAnInteger: return "isn't a whole number; expected \(expected)"
    case .notANumber: return "isn't a number; expected \(expected)"
    case .notABoolean:
      return "isn't \(words ?? "true or false, yes or no, t or f, y or n, 1 or 0"); expected \(expected)"
    case .notADate: return "isn't a date; expected \(expected)"
    case .notAUUID: return "isn't a UUID"
    case .notAURI: return "isn't a URI"
    case .notBase64: return "isn't base64; expected \(expected)"
    case .notHexadecimal: return "isn't hexadecimal; expected \(expected)"
    case .ambiguousBinary:
      return "may be hexadecimal digits or base64: say which in the recipe, binary_encoding: hex or base64"
    case .outOfRange: return "is out of range for \(expected)"
    case .tooPrecise: return "has more than the 38 digits that \(expected) can hold"
    case .unknownValue: return "isn't one of the values that the recipe knows: \(words ?? "none")"
    case .wrongKind: return "isn't text; expected \(expected)"
    case .cellError: return "is an error and no value; correct it, or name it in nulls"
    case .formulaWithoutValue:
      return "is a formula whose value isn't in the file; open the workbook in Excel or LibreOffice, and save it"
    }
  }
}

/// Why no converter can be made for an attribute.
package enum ConverterError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Values of this type can't be read from text.
  case unsupportedType(attribute: String, type: AttributeType)
  /// The date format has a letter that isn't supported, or not in this number.
  case unsupportedLetter(attribute: String, format: String, letter: String)
  /// A quotation in the date format isn't closed.
  case unclosedQuote(attribute: String, format: String)
  /// A recipe's option, named as in the recipe, has no meaning for attributes of this type.
  case uselessOption(attribute: String, option: String, type: String)
  /// A recipe's option has an impossible value.
  case badOption(attribute: String, option: String, value: String, reason: String)
  /// A transformable attribute can't hold an array of strings.
  case noList(attribute: String, reason: String)
  /// There is no such time zone; with the nearest existing name.
  case unknownTimeZone(attribute: String, name: String, nearest: String?)

  package var description: String {
    switch self {
    case .unsupportedType(let attribute, let type):
      return "\(attribute) is of type \(type.rawValue), which can't be imported from text: leave it out of the mapping"
    case .unsupportedLetter(let attribute, let format, let letter):
      return "\(attribute)'s date format “\(format)” has “\(letter)”, which isn't supported; "
        + "put letters that stand for themselves between single quotes"
    case .unclosedQuote(let attribute, let format):
      return "\(attribute)'s date format “\(format)” has a single quote that nothing closes"
    case .uselessOption(let attribute, let option, let type):
      return "\(attribute)'s \(option) has no effect, because \(attribute) is \(type): leave it out"
    case .badOption(let attribute, let option, let value, let reason):
      return "\(attribute)'s \(option) “\(value)” \(reason)"
    case .noList(let attribute, let reason):
      return "\(attribute) has a separator, but can't hold an array of strings: \(reason)"
    case .unknownTimeZone(let attribute, let name, let nearest):
      return "\(attribute)'s time_zone “\(name)” isn't known"
        + (nearest.map { "; did you mean \($0)?" } ?? ": name one as Europe/Berlin, or GMT+0200")
    }
  }
}
