/// The ending of a reject file's name, by which its format is known when it is dropped again.
package enum RejectFileEnding {
  /// The ending for the rejects of a source, with its dot: that of the source without what says how it is packed, such as
  /// `.csv` for `people.csv.gz`; empty when the name has none.
  package static func of(_ source: String, _ options: ReaderOptions) -> String {
    var name = SourceCompression.ofName(source)?.inner ?? source
    let isArchive = [".zip", ".tar"].contains { name.lowercased().hasSuffix($0) }
    if isArchive { name = options.member ?? "" }
    if let format = options.format, SourceFormat(fileName: name) != format { return ending(of: format) }
    if SourceFormat(fileName: name) == .sqlite { return ending(of: .sqlite) }
    let ending = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last ?? ""
    guard !ending.isEmpty, ending.utf8.count <= 16, ending.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
    else { return "" }
    return "." + ending.lowercased()
  }

  private static func ending(of format: SourceFormat) -> String {
    switch format {
    case .csv: ".csv"
    case .tsv: ".tsv"
    case .fixedWidth: ".txt"
    case .json: ".json"
    case .ndjson, .sqlite: ".ndjson"
    case .xml: ".xml"
    case .plist: ".plist"
    }
  }
}
