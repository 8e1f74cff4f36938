@testable import Importing

/// A target that accepts any bytes.
protocol FuzzTarget: AnyObject {
  /// - Throws: an error that isn't one of the reader's own, or a broken promise.
  func run(_ input: [UInt8]) throws
}

/// A promise of the readers that an input broke.
struct BrokenPromise: Error, CustomStringConvertible {
  let description: String
}

/// All targets by name; to add one is a line here, and a folder of seeds under `Corpus`.
enum FuzzTargets {
  static let all: [(name: String, make: @Sendable () throws -> any FuzzTarget)] = [
    ("csv", { try ReaderTarget(ReaderChoices.csv) }),
    ("tsv", { try ReaderTarget(ReaderChoices.tsv) }),
    ("fixed", { try ReaderTarget(ReaderChoices.fixedWidth) }),
    ("ndjson", { try ReaderTarget(ReaderChoices.ndjson) }),
    ("json", { try ReaderTarget(ReaderChoices.json) }),
    ("xml", { try ReaderTarget(ReaderChoices.xml) }),
    ("plist", { try ReaderTarget(ReaderChoices.propertyList) }),
    ("bplist", { try ReaderTarget(ReaderChoices.binaryPropertyList) }),
    ("sqlite", { try ReaderTarget(ReaderChoices.sqlite) }),
    ("xlsx", { try ReaderTarget { ReaderChoices.workbook(&$0, format: .xlsx) } }),
    ("ods", { try ReaderTarget { ReaderChoices.workbook(&$0, format: .ods) } }),
    ("parquet", { try ReaderTarget(ReaderChoices.parquet) }),
    ("encoding", { try ReaderTarget(ReaderChoices.encoding) }),
    ("detection", { try ReaderTarget(ReaderChoices.detection) }),
    ("packed", { try ReaderTarget(ReaderChoices.packed) }),
    ("conversion", { try ConversionTarget() }),
    ("filter", { try FilterTarget() }),
    ("core-data", { CompiledModelTarget() }),
  ]
}
