/// Why a record can't be used. The record is delivered all the same, so that it can be written to a reject file.
package enum RecordProblem: Error, Sendable, Hashable {
  /// The row has fewer fields than the header.
  case tooFewFields(expected: Int, found: Int)
  /// The row has more fields than the header.
  case tooManyFields(expected: Int, found: Int)
  /// A quote is never closed; the record is the line with that quote.
  case unterminatedQuote
  /// There is text between a closing quote and the next delimiter.
  case textAfterQuote
  /// The file ends with an escape.
  case danglingEscape
  /// Fixed width: the line ends inside or before a column.
  case lineTooShort(expected: Int, found: Int)
  /// Fixed width, in bytes: a column begins or ends inside a character.
  case splitCharacter(column: String)
  /// JSON: the record stands under a key, and has itself another value in the column of the keys.
  case keyDiffers(column: String)
  /// The bytes aren't UTF-8.
  case invalidUTF8
  /// The bytes are invalid in the encoding that the source is read in.
  case invalidText(TextEncoding)
  /// There is a zero byte in the text.
  case nulByte
  /// The record isn't valid JSON: the mistake, and its byte in the line, counted from 1.
  case malformedJSON(String, column: Int)
  /// The record is JSON, but not an object.
  case notAnObject(found: String)
  /// The record is longer than the reader's limit, in bytes; only its beginning was kept.
  case recordTooLong(limit: Int)
  /// The value of a column comes from a reject file, where it was masked by another key, or covered since nothing took it.
  case maskedOtherwise(column: String)
  /// Incremental sources: the row has no cursor.
  case noCursor(column: String)
  /// Incremental sources: the row's cursor can't be put in order with those of the other rows.
  case unusableCursor(column: String)
  /// A value is in a file beside the source that can't be read: why.
  case unreadableFile(reason: String)

  /// A stable short name, for reject files and scripts.
  package var code: String {
    switch self {
    case .tooFewFields: "too_few_fields"
    case .tooManyFields: "too_many_fields"
    case .unterminatedQuote: "unterminated_quote"
    case .textAfterQuote: "text_after_quote"
    case .danglingEscape: "dangling_escape"
    case .lineTooShort: "line_too_short"
    case .splitCharacter: "split_character"
    case .keyDiffers: "key_differs"
    case .invalidUTF8: "invalid_utf8"
    case .invalidText: "invalid_text"
    case .nulByte: "nul_byte"
    case .malformedJSON: "malformed_json"
    case .notAnObject: "not_an_object"
    case .recordTooLong: "record_too_long"
    case .maskedOtherwise: "masked_otherwise"
    case .noCursor: "no_cursor"
    case .unusableCursor: "unusable_cursor"
    case .unreadableFile: "unreadable_file"
    }
  }
}

extension RecordProblem: CustomStringConvertible {
  package var description: String {
    switch self {
    case .tooFewFields(let expected, let found):
      "the row has \(found) \(found == 1 ? "field" : "fields"), but the header has \(expected)"
    case .tooManyFields(let expected, let found):
      "the row has \(found) fields, but the header has \(expected)"
    case .unterminatedQuote:
      "a quote opened in this line is never closed; reading went on at the next line"
    case .textAfterQuote:
      "there is text between a closing quote and the next delimiter; a quote inside quotes is written twice"
    case .danglingEscape:
      "the file ends with an escape character"
    case .lineTooShort(let expected, let found):
      "the line has a width of \(found), but the columns need \(expected)"
    case .splitCharacter(let column):
      "the column “\(column)” begins or ends inside a character; count in characters instead of bytes"
    case .keyDiffers(let column):
      "the record has its own “\(column)”, which isn't the key under which it stands; name another column for the keys as key_column"
    case .invalidUTF8:
      "the record isn't valid UTF-8; name the file's encoding, or convert it to UTF-8"
    case .invalidText(let encoding):
      "the record isn't valid \(encoding.rawValue), the encoding in which the file is read; name the right one, or repair the record"
    case .nulByte:
      "the record contains a zero byte, which text can't have"
    case .malformedJSON(let what, let column):
      "malformed JSON at column \(column): \(what)"
    case .notAnObject(let found):
      "the record is \(found), not a JSON object"
    case .recordTooLong(let limit):
      "the record is longer than the limit of \(limit) bytes; only its beginning was kept"
    case .maskedOtherwise(let column):
      "the value of “\(column)” is masked in the reject file otherwise than it is to be now; take the record from its source"
    case .noCursor(let column):
      "“\(column)”, the cursor, is null, so it can't be known when the row changes; give every row one"
    case .unusableCursor(let column):
      "“\(column)”, the cursor, is of another type than those of the other rows, or written in another form; times must be in "
        + "ISO 8601 and UTC, all with the same character between date and time"
    case .unreadableFile(let reason):
      "\(reason); put the store's folder _EXTERNAL_DATA beside it, as the app has it"
    }
  }
}
