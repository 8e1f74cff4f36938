/// How reject files are named: after the job, with an ending that settles the format when the file is dropped again.
package enum RejectFileName {
  /// The name of a job's reject file, such as `12.rejects.csv`.
  /// - Parameters:
  ///   - job: the job's number, or another name that no two jobs share.
  ///   - source: the name of the file that is imported.
  ///   - options: those that it is read with.
  package static func name(job: String, source: String, _ options: ReaderOptions) -> String {
    folderName(job: job) + ending(of: source, options)
  }

  /// The name of the folder of a feed's reject files, which have the names of their sources.
  package static func folderName(job: String) -> String { "\(job).rejects" }

  /// The ending for the rejects of a source, with its dot: that of the source without the ending of its compression, such as
  /// `.csv` for `people.csv.gz`; empty when the name has none.
  static func ending(of source: String, _ options: ReaderOptions) -> String {
    let formats = FileFormats.standard
    var name = SourceCompression.ofName(source)?.inner ?? source
    let isArchive = [".zip", ".tar"].contains { name.lowercased().hasSuffix($0) }
    if isArchive { name = options.member ?? "" }
    let named = formats.format(ofFileName: name)
    if let format = options.format.flatMap({ formats[$0] }), named?.name != format.name { return format.rejectEnding }
    if let named, named.rejectFormat != named.name { return named.rejectEnding }
    let ending = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last ?? ""
    guard !ending.isEmpty, ending.utf8.count <= 16, ending.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
    else { return "" }
    return "." + ending.lowercased()
  }
}
