@testable import Importing

// RFC 4180 by section, then what it leaves open. "Python" is its csv module, 3.11, tried with strict and without.

extension EdgeCase {
  static let csvCases: [EdgeCase] = rfc4180 + open + escapes + lines

  private static let rfc4180: [EdgeCase] = [
    csv("2.1: a record a line, ended by CRLF", "1,2\r\n3,4\r\n", [.values(["1", "2"]), .values(["3", "4"])]),
    csv("2.2: the last record may go without a line end", "1,2\r\n3,4", [.values(["1", "2"]), .values(["3", "4"])]),
    csv("2.2: a last field of nothing without a line end", "1,", [.values(["1", "<empty>"])]),
    csv("2.4: spaces belong to the field", " 1 , 2\t\n", [.values([" 1 ", " 2\t"])]),
    csv("2.4: a comma at the end is one more field", "1,2,\n", [.problem("too_many_fields")]),
    csv("2.4: fewer fields than the header", "1\n", [.problem("too_few_fields")]),
    csv("2.5: quotes around a field don't belong to it", "\"1\",\"2\"\n", [.values(["1", "2"])]),
    csv("2.6: line ends, quotes and commas in quotes", "\"x\r\ny\",\",\"\n", [.values(["x\r\ny", ","])]),
    csv("2.7: a doubled quote is a quote", "\"a\"\"b\",\"\"\"\"\n", [.values(["a\"b", "\""])]),
    csv("2.7: a doubled quote at both ends", "\"\"\"a\"\"\",1\n", [.values(["\"a\"", "1"])]),
    csv("a file of a header alone has no records", "", []),
    csv("a file of one column and one field", "x", header: "a\n", [.values(["x"])]),
  ]

  private static let open: [EdgeCase] = [
    csv("a quote inside a field without quotes is text, as in Python", "1,x\"y\n", [.values(["1", "x\"y"])]),
    csv("a space before a quote makes it text, as in Python", "1, \"x\"\n", [.values(["1", " \"x\""])]),
    csv(
      "text after a closing quote: Python joins it unless strict, then refuses the file", "\"x\"y,1\n2,3\n",
      [.problem("text_after_quote"), .values(["2", "3"])]),
    csv(
      "a space after a closing quote: the same", "\"x\" ,1\n2,3\n",
      [.problem("text_after_quote"), .values(["2", "3"])]),
    csv(
      "a quote never closed: Python makes one field of the rest of the file", "1,\"x\n2,3\n4,5\n",
      [.problem("unterminated_quote"), .values(["2", "3"]), .values(["4", "5"])]),
    csv("a quote and nothing else", "\"", [.problem("unterminated_quote")]),
    csv("three quotes are an open field", "\"\"\",1\n", [.problem("unterminated_quote")]),
    csv("an empty field differs from a quoted empty one", ",\"\"\n", [.values(["<empty>", ""])]),
    csv("a quoted empty field alone is a record, not an empty line", "\"\"\n", header: "a\n", [.values([""])]),
    csv("lines of no bytes are skipped; Python yields them as empty lists", "\n\n1,2\n\n", [.values(["1", "2"])]),
    csv("a line of a space is a record", " \n", [.problem("too_few_fields")]),
    csv("a comma alone is two empty fields", ",\n", [.values(["<empty>", "<empty>"])]),
    csv("a lone CR in a file of LF is text; Python ends the record there", "1,x\ry\n", [.values(["1", "x\ry"])]),
    csv("line ends may differ from line to line", "1,2\r\n3,4\n", [.values(["1", "2"]), .values(["3", "4"])]),
    csv(
      "CR alone ends lines where there is no LF", "1,2\r3,4\r", header: "a,b\r",
      [
        .values(["1", "2"]), .values(["3", "4"]),
      ]),
    csv("a byte order mark isn't part of the first name", "1,2\n", header: "\u{FEFF}a,b\n", [.values(["1", "2"])]),
    csv("a byte order mark before a quoted name", "1,2\n", header: "\u{FEFF}\"a\",b\n", [.values(["1", "2"])]),
    csv("a byte order mark further on is text", "\u{FEFF}1,2\n", [.values(["\u{FEFF}1", "2"])]),
    csv("an escape of C is two characters", "1,x\\ny\n", [.values(["1", "x\\ny"])]),
    csv("a backslash before a quote doesn't keep it open", "1,\"x\\\"\n", [.values(["1", "x\\"])]),
    csv("the word NULL is a word", "NULL,\\N\n", [.values(["NULL", "\\N"])]),
    csv("Unicode's own line separators end no line", "1,x\u{2028}y\u{85}\n", [.values(["1", "x\u{2028}y\u{85}"])]),
    csv("Ctrl-Z at the end is text", "1,2\u{1A}", [.values(["1", "2\u{1A}"])]),
    csv("a quoted header name with a comma", "1,2\n", header: "\"a,\",b\n", [.values(["1", "2"])]),
    csv("two columns of one name are refused", "1,2\n", header: "a,a\n", [], error: .duplicateColumn(name: "a")),
    csv(
      "a column without a name is read, as pandas writes one", "0,1,2\n", header: ",a,b\n", [.values(["0", "1", "2"])]),
    csv("several columns without a name", "1,2,\n", header: "a,,\n", [.values(["1", "2", "<empty>"])]),
    csv(
      "a first line that says what separates the fields, for Excel", "1;2,5\n", header: "sep=;\na;b\n",
      [.values(["1", "2,5"])]),
    csv("the same with CRLF, and in capitals", "1|2\r\n", header: "SEP=|\r\na|b\r\n", [.values(["1", "2"])]),
    csv("a column that is called sep=", "1\n", header: "sep=\n", [.values(["1"])]),
    csv("a column that is called sep=x", "1x2\n", header: "sep=x\n", [.values(["1x2"])]),
    csv("a column that is called sep=, and a quote", "1\n", header: "sep='\n", [.values(["1"])]),
    csv(
      "a quote left open in the header is refused", "1,2\n", header: "a,\"b\n", [],
      error: .malformed(line: 1, column: 1, what: "in the header, \(RecordProblem.unterminatedQuote)")),
    csv("without quotes as an option, a quote is text", "\"1,\"\"\n", [.values(["\"1", "\"\""])]) { $0.quote = nil },
    csv("single quotes, as an option", "'x,''',\"\n", [.values(["x,'", "\""])]) { $0.quote = "'" },
    csv("columns given instead of a header line", "1,2\n", header: "", [.values(["1", "2"])]) {
      ($0.header, $0.columns) = (false, ["a", "b"])
    },
    csv("columns given in place of the header's names", "1,2\n", [.values(["1", "2"])]) { $0.columns = ["x", "y"] },
  ]

  private static func escaped(_ about: String, _ text: String, _ rows: [Row]) -> EdgeCase {
    csv(about, text, rows) { $0.escape = "\\" }
  }

  private static func tsv(_ about: String, _ text: String, _ rows: [Row]) -> EdgeCase {
    csv(about, text, header: "a\tb\n", rows) { ($0.format, $0.tsvEscapes) = (.tsv, true) }
  }

  private static let escapes: [EdgeCase] = [
    escaped("an escaped comma is text, as in Python", "a\\,b,c\n", [.values(["a,b", "c"])]),
    escaped("an escaped quote keeps the field open, as in Python", "\"a\\\"b\",c\n", [.values(["a\"b", "c"])]),
    escaped("quotes may be doubled beside escapes, as in Python", "\"a\"\"b\\\"c\",d\n", [.values(["a\"b\"c", "d"])]),
    escaped("an escaped escape doesn't escape the quote after it", "\"a\\\\\",b\n", [.values(["a\\", "b"])]),
    escaped("an escaped line end is text, as in Python", "a\\\nb,c\n", [.values(["a\nb", "c"])]),
    escaped("an escaped CRLF is one line end; Python escapes half of it", "a\\\r\nb,c\n", [.values(["a\r\nb", "c"])]),
    escaped("an escaped letter is the letter, as in Python", "a\\nb,\\N\n", [.values(["anb", "N"])]),
    escaped("an escaped quote opens no field, as in Python", "\\\"a,b\n", [.values(["\"a", "b"])]),
    escaped(
      "an escape with nothing after it; Python adds a line end", "1,2\n3,a\\",
      [
        .values(["1", "2"]), .problem("dangling_escape"),
      ]),
    escaped("an escape before a character of many bytes", "\\é,\"\\日\"\n", [.values(["é", "日"])]),
    escaped("a field of an escaped space isn't empty", "\\ ,x\n", [.values([" ", "x"])]),
    escaped(
      "an open quote costs its line, escapes or not", "1,\"x\\\"\n2,3\n",
      [
        .problem("unterminated_quote"), .values(["2", "3"]),
      ]),
    tsv("the escapes of COPY", "x\\ty\\nz\\\\\t\\b\\f\\r\\v\n", [.values(["x\ty\nz\\", "\u{8}\u{C}\r\u{B}"])]),
    tsv("\\N alone is null, inside a field it is a letter", "\\N\tx\\N\n", [.values(["<null>", "xN"])]),
    tsv("an escaped \\N is text", "\\\\N\tx\n", [.values(["\\N", "x"])]),
    tsv("quotes are text", "\"x\t\"\n", [.values(["\"x", "\""])]),
    tsv("a backslash before a tab or line end keeps it", "x\\\ty\\\nz\t1\n", [.values(["x\ty\nz", "1"])]),
  ]

  private static let lines: [EdgeCase] = [
    csv(
      "comments are skipped, before the header too", "# c\n1,2\n#3,4\n5,6\n", header: "# x,y,z\na,b\n",
      [
        .values(["1", "2"]), .values(["5", "6"]),
      ]
    ) { $0.comment = "#" },
    csv("a comment begins its line, not a field", "1,#2\n #3,4\n", [.values(["1", "#2"]), .values([" #3", "4"])]) {
      $0.comment = "#"
    },
    csv("in quotes there are no comments", "\"x\n#y\",1\n\"#\",2\n", [.values(["x\n#y", "1"]), .values(["#", "2"])]) {
      $0.comment = "#"
    },
    csv("a quote in a comment has no meaning", "#\"\n1,2\n", [.values(["1", "2"])]) { $0.comment = "#" },
    csv("a comment may begin with more than a byte", "--1,2\n-1,2\n", [.values(["-1", "2"])]) { $0.comment = "--" },
    csv("a comment at the end without a line end", "1,2\n#", [.values(["1", "2"])]) { $0.comment = "#" },
    csv(
      "lines before the header are skipped unread", "1,2\n", header: "a \"title\n\na,b\n",
      [
        .values(["1", "2"])
      ]
    ) { $0.skipLines = 2 },
    csv(
      "the delimiter is taken from the header, not from what is before it", "1;2\n", header: "x,y,z\n#,,\na;b\n",
      [
        .values(["1", "2"])
      ]
    ) { ($0.skipLines, $0.comment) = (1, "#") },
    csv("a file with fewer lines than are skipped is empty", "1,2\n", [], error: .emptyFile) {
      $0.skipLines = 9
    },
  ]
}
