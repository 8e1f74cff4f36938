import Glibc
import Testing

@testable import Importing

@Suite("Messages of readers")
struct ReaderMessageTests {
  static let problems: [(RecordProblem, String, String)] = [
    (.tooFewFields(expected: 3, found: 1), "too_few_fields", "the row has 1 field, but the header has 3"),
    (.tooManyFields(expected: 3, found: 5), "too_many_fields", "the row has 5 fields, but the header has 3"),
    (
      .unterminatedQuote, "unterminated_quote",
      "a quote opened in this line is never closed; reading went on at the next line"
    ),
    (
      .textAfterQuote, "text_after_quote",
      "there is text between a closing quote and the next delimiter; a quote inside quotes is written twice"
    ),
    (.danglingEscape, "dangling_escape", "the file ends with an escape character"),
    (
      .lineTooShort(expected: 9, found: 4), "line_too_short",
      "the line has a width of 4, but the columns need 9"
    ),
    (
      .keyDiffers(column: "id"), "key_differs",
      "the record has its own “id”, which isn't the key under which it stands; name another column for the keys as key_column"
    ),
    (
      .splitCharacter(column: "a"), "split_character",
      "the column “a” begins or ends inside a character; count in characters instead of bytes"
    ),
    (
      .invalidUTF8, "invalid_utf8",
      "the record isn't valid UTF-8; name the file's encoding, or convert it to UTF-8"
    ),
    (
      .invalidText(.utf16LE), "invalid_text",
      "the record isn't valid utf-16le, the encoding in which the file is read; name the right one, or repair the record"
    ),
    (.nulByte, "nul_byte", "the record contains a zero byte, which text can't have"),
    (.malformedJSON("x", column: 4), "malformed_json", "malformed JSON at column 4: x"),
    (.notAnObject(found: "an array"), "not_an_object", "the record is an array, not a JSON object"),
    (
      .recordTooLong(limit: 9), "record_too_long",
      "the record is longer than the limit of 9 bytes; only its beginning was kept"
    ),
    (
      .maskedOtherwise(column: "a"), "masked_otherwise",
      "the value of “a” is masked in the reject file otherwise than it is to be now; take the record from its source"
    ),
    (
      .noCursor(column: "a"), "no_cursor",
      "“a”, the cursor, is null, so it can't be known when the row changes; give every row one"
    ),
    (
      .unusableCursor(column: "a"), "unusable_cursor",
      "“a”, the cursor, is of another type than those of the other rows, or written in another form; times must be in "
        + "ISO 8601 and UTC, all with the same character between date and time"
    ),
    (
      .unreadableFile(reason: "no"), "unreadable_file",
      "no; put the store's folder _EXTERNAL_DATA beside it, as the app has it"
    ),
  ]

  @Test("every problem has its code and its sentence", arguments: problems)
  func problem(problem: RecordProblem, code: String, text: String) {
    #expect(problem.code == code)
    #expect(problem.description == text)
  }

  static let errors: [(ReaderError, String)] = [
    (.emptyFile, "the file is empty"),
    (
      .binaryFile(offset: 0, looksLike: "a gzip file"),
      "the file isn't text: it looks like a gzip file (byte 0); export it as CSV or JSON first"
    ),
    (
      .notUTF8(line: 1, looksLike: "UTF-16"),
      "line 1 isn't valid UTF-8, it looks like UTF-16; name the encoding, or convert the file to UTF-8"
    ),
    (.noHeader, "the options say that the file has no header line, so they must name the columns"),
    (.duplicateColumn(name: "id"), "two columns are named “id”; rename one"),
    (.emptyColumnName(index: 2), "column 2 has no name; name it in the header line"),
    (.columnCountDiffers(given: 1, header: 2), "the options name 1 columns, but the header line has 2"),
    (.tooManyColumns(limit: 9), "there are more than 9 different column names (or their text is longer than 1 MiB)"),
    (.rootNotFound(path: "a.b", found: ["x", "y"]), "there is no “a.b” in the document (keys: “x”, “y”)"),
    (
      .rootNotFound(path: "", found: []),
      "no top-level value is an array of objects (it has no keys); "
        + "name the key path as root, or say that the format is ndjson"
    ),
    (
      .severalRoots(found: ["a", "b"]),
      "several top-level values are arrays of objects (keys: “a”, “b”); name one as root, or say root: . if the document is "
        + "one record"
    ),
    (
      .severalRecords(found: ["a", "b"]),
      "it isn't clear which elements are the records (“a”, “b”); name one as record"
    ),
    (.notAnArray(path: "a", found: "null"), "“a” is null, not an array of objects"),
    (.notAnArray(path: "", found: "a number"), "the document is a number, not an array of objects"),
    (.malformed(line: 2, column: 5, what: "x"), "line 2, column 5: x"),
    (.invalidOption(name: "quote", reason: "x"), "the option quote is wrong: x"),
    (
      .positionInvalid(.init(byteOffset: 9, line: 1, record: 1), fileSize: 4),
      "can't resume at byte 9 of a file of 4 bytes: the file has changed"
    ),
    (
      .source(.truncated(what: "gzip", offset: 7)),
      "the gzip data is cut off at byte 7 of the file; send or copy it again"
    ),
    (.readFailed(errno: EIO), "the file couldn't be read: Input/output error"),
  ]

  @Test("every error has its sentence", arguments: errors)
  func error(error: ReaderError, text: String) {
    #expect(error.description == text)
  }

  @Test("every mistake in JSON and XML has its own message")
  func mistakes() {
    let texts = (0...UInt8.max).compactMap(JSONMistake.init(rawValue:)).map(\.description)
    #expect(texts.count == 16)
    #expect(Set(texts).count == texts.count)
    let xml = (0...UInt8.max).compactMap(XMLMistake.init(rawValue:)).map(\.description)
    #expect(xml.count == 20)
    #expect(Set(xml).count == xml.count)
  }
}
