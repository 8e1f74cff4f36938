@testable import Importing

/// How one input is read.
struct ReaderChoices {
  var name = "data"
  var options = ReaderOptions()
  /// Of the second reading.
  var blockSize: Int
  /// Whether a record's bytes are those at its offset in the file: plain UTF-8, each record as it is written.
  var isVerbatim = true
  /// Whether every row without a problem has just as many cells as there are columns.
  var isTabular = false
  /// Whether the file may be compressed: then how far reading comes before damage depends on the blocks.
  var isPacked = false

  private init(_ choices: inout Choices, format: FileFormatName?) {
    let size = choices.pick(64)
    blockSize = size % 17 + 1
    options.format = format
    options.encoding = .utf8
    // The choice also bounds records, so that long ones are met early.
    if size >= 17 { options.maximumRecordBytes = [16, 64, 1 << 20][size / 17 - 1] }
    options.maximumUnpackedBytes = 1 << 18
  }

  static func csv(_ choices: inout Choices) -> ReaderChoices {
    var made = ReaderChoices(&choices, format: .csv)
    made.isTabular = true
    made.options.delimiter = choices.pick(of: [",", nil, ";", "\t"])
    made.options.quote = choices.pick(of: ["\"", "'", nil])
    let more = choices.pick(32)
    made.options.escape = more & 1 == 0 ? nil : "\\"
    made.options.comment = more & 2 == 0 ? nil : ["#", "//"][more & 1]
    made.options.skipLines = more & 4 == 0 ? 0 : 2
    made.options.header = more & 8 == 0
    made.options.columns = more & 8 == 0 ? nil : ["a", "b"]
    return made
  }

  static func tsv(_ choices: inout Choices) -> ReaderChoices {
    var made = ReaderChoices(&choices, format: .tsv)
    made.isTabular = true
    made.options.tsvEscapes = choices.pick(2) == 0
    made.options.comment = choices.pick(of: [nil, "#"])
    return made
  }

  static func fixedWidth(_ choices: inout Choices) -> ReaderChoices {
    var made = ReaderChoices(&choices, format: .fixedWidth)
    made.isTabular = true
    var layout = FixedWidthLayout(columns: [.init("a", width: 3), .init("b", start: 3, end: 8), .init("c", width: 2)])
    let more = choices.pick(32)
    layout.unit = more & 1 == 0 ? .characters : .bytes
    layout.trims = more & 2 == 0
    layout.allowsShortLines = more & 4 == 0
    made.options.comment = more & 8 == 0 ? nil : "#"
    made.options.skipLines = more & 16 == 0 ? 0 : 1
    made.options.fixedWidth = layout
    return made
  }

  static func ndjson(_ choices: inout Choices) -> ReaderChoices {
    var made = ReaderChoices(&choices, format: .ndjson)
    made.options.columns = choices.pick(of: [nil, ["b", "a"]])
    return made
  }

  static func json(_ choices: inout Choices) -> ReaderChoices {
    var made = ReaderChoices(&choices, format: .json)
    let choice = choices.pick(6)
    made.options.root = [nil, "a", "a.b", ".", nil, "a"][choice]
    if choice > 3 { made.options.keyColumn = "k" }
    return made
  }

  static func xml(_ choices: inout Choices) -> ReaderChoices {
    var made = ReaderChoices(&choices, format: .xml)
    made.options.record = choices.pick(of: [nil, "a", "r/a", "r/b/a"])
    return made
  }

  static func propertyList(_ choices: inout Choices) -> ReaderChoices {
    var made = ReaderChoices(&choices, format: .plist)
    made.options.root = choices.pick(of: [nil, "a", "a.b"])
    return made
  }

  static func binaryPropertyList(_ choices: inout Choices) -> ReaderChoices {
    var made = propertyList(&choices)
    made.isVerbatim = false
    made.isPacked = true
    return made
  }

  static func sqlite(_ choices: inout Choices) -> ReaderChoices {
    var made = ReaderChoices(&choices, format: .sqlite)
    made.options.encoding = nil
    made.options.query = choices.pick(of: [nil, "SELECT * FROM t ORDER BY 1", "SELECT a, b || 'x' AS c FROM t"])
    made.isVerbatim = false
    made.isTabular = true
    return made
  }

  static func workbook(_ choices: inout Choices, format: FileFormatName) -> ReaderChoices {
    var made = ReaderChoices(&choices, format: format)
    made.options.encoding = nil
    made.options.header = choices.pick(2) == 0
    made.options.columns = made.options.header ? nil : ["a", "b", "c"]
    made.options.skipLines = choices.pick(of: [0, 1])
    made.isVerbatim = false
    made.isTabular = true
    made.isPacked = true
    return made
  }

  static func parquet(_ choices: inout Choices) -> ReaderChoices {
    var made = ReaderChoices(&choices, format: .parquet)
    made.options.encoding = nil
    made.options.binaryAsText = choices.pick(2) == 1
    made.isVerbatim = false
    made.isPacked = true
    return made
  }

  static func encoding(_ choices: inout Choices) -> ReaderChoices {
    var made = ReaderChoices(&choices, format: .csv)
    made.isTabular = true
    made.isVerbatim = false
    let encodings: [TextEncoding?] = [nil] + TextEncoding.allCases
    made.options.encoding = choices.pick(of: encodings)
    made.options.fallbackEncoding = choices.pick(of: [nil, .windows1252, .koi8r])
    return made
  }

  static func detection(_ choices: inout Choices) -> ReaderChoices {
    var made = ReaderChoices(&choices, format: nil)
    made.options.encoding = nil
    made.name = choices.pick(of: ["data", "a.json", "a.xml", "a.txt", "a.csv.gz", "a.plist", "a.zip", "a.ndjson"])
    made.isVerbatim = false
    made.isPacked = true
    return made
  }

  static func packed(_ choices: inout Choices) -> ReaderChoices {
    var made = detection(&choices)
    made.options.format = .csv
    made.options.member = choices.pick(of: [nil, "a.csv", "*b*"])
    return made
  }
}
