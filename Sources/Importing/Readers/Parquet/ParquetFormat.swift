/// A Parquet file: its rows, with what is nested in them.
struct ParquetFormat: FileFormat {
  let name = FileFormatName.parquet
  let title = "Parquet"
  let endings = ["parquet", "pq", "parq"]
  /// A file without lists, objects and maps is: its reader says so.
  let isTabular = false
  let rejectFormat = FileFormatName.ndjson
  let rejectEnding = ".ndjson"
  let signatures = [ParquetFile.signature, ParquetFile.encryptedSignature]
  let options: [FormatOption] = [Self.binaryAsTextOption]

  static let binaryAsText = FormatField("binary_as_text", default: false)

  private static let binaryAsTextOption = FormatOption(
    "binary_as_text", binaryAsText, help: "whether bytes that the file doesn't call a text are one, in UTF-8"
  ) { (value) throws(ReaderError) in try value.flag() }

  var access: FormatAccess {
    .file(
      FileAccess(
        open: { (descriptor, _, options, position) throws(ReaderError) in
          try ParquetReader(descriptor: descriptor, options: options, from: position)
        },
        packed: .parquet(.packed), foreign: .parquet(.notParquet),
        isOfFormat: { _, beginning, _ in
          // A text may begin with these letters, too.
          beginning.contains(0)
        }))
  }
}

extension FileFormatName {
  package static let parquet = FileFormatName("parquet")
}

extension ReaderOptions {
  /// Parquet: whether bytes without an annotation are texts, as older programs write them.
  package var binaryAsText: Bool {
    get { self[ParquetFormat.binaryAsText] }
    set { self[ParquetFormat.binaryAsText] = newValue }
  }
}
