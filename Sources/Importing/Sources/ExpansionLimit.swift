/// How much a compressed source may unpack to: what a decompression bomb runs into. Memory is bounded without it, since
/// nothing is held but blocks; it bounds the time and what is written to the store.
struct ExpansionLimit {
  /// Unpacked bytes for each byte of the file; looked at only past `unchecked`.
  var ratio: Int
  /// Unpacked bytes.
  var bytes: Int64

  /// A short file may be as dense as it likes: so much is always unpacked, unless `bytes` is less.
  static let unchecked: Int64 = 64 << 20

  func check(unpacked: Int64, from fileBytes: Int64) throws(ReaderError) {
    if unpacked > bytes { throw .source(.unpacksTooFar(limit: bytes)) }
    guard unpacked > Self.unchecked else { return }
    let (allowed, overflow) = max(1, fileBytes).multipliedReportingOverflow(by: Int64(ratio))
    if !overflow, unpacked > allowed {
      throw .source(.unpacksTooMuch(ratio: ratio, unpacked: unpacked, fileBytes: fileBytes))
    }
  }
}

extension ReaderOptions {
  var expansionLimit: ExpansionLimit { ExpansionLimit(ratio: maximumExpansion, bytes: maximumUnpackedBytes) }
}
