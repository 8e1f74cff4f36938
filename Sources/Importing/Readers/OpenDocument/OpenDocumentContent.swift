/// The XML of a spreadsheet's content: a part of its zip, `content.xml`, or the file itself if that is a flat one.
/// Source: OpenDocument 1.3, part 2.
struct OpenDocumentContent {
  private let descriptor: Int32
  private let options: ReaderOptions
  private let blockSize: Int
  /// The zip's parts and the content among them; nil if the file is flat.
  private let zipped: (parts: WorkbookParts, member: ArchiveMember)?

  static let flatSignature = Array("<?xml".utf8)
  /// The root element of a flat file begins within these bytes, with its type.
  private static let flatSample = 16 << 10
  private static let part = "content.xml"
  private static let manifest = "META-INF/manifest.xml"

  /// - Throws: ``WorkbookError``, or what is wrong with the archive.
  init(descriptor: Int32, options: ReaderOptions, blockSize: Int) throws(ReaderError) {
    self.descriptor = descriptor
    self.options = options
    self.blockSize = blockSize
    let beginning = try PlainSource(descriptor: descriptor).readSample(SourceSample.signatureSize)
    guard SourceArchiveKind.zipSignatures.contains(where: beginning.starts(with:)) else {
      zipped = nil
      return
    }
    let parts = try WorkbookParts(descriptor: descriptor, options: options, blockSize: blockSize)
    guard try !Self.isEncrypted(parts) else { throw .workbook(.encrypted) }
    if parts[Self.part] == nil, !OfficeFile.isSpreadsheetOfOpenDocument(beginning) { throw .workbook(.notOpenDocument) }
    zipped = (parts, try parts.require(Self.part))
  }

  /// Whether a file with this beginning is a spreadsheet.
  static func isSpreadsheet(descriptor: Int32, beginning: [UInt8], options: ReaderOptions) -> Bool {
    if OfficeFile.isSpreadsheetOfOpenDocument(beginning) { return true }
    do throws(ReaderError) {
      if beginning.starts(with: flatSignature) {
        let sample = try PlainSource(descriptor: descriptor).readSample(flatSample)
        return sample.firstRange(of: "<office:document ".utf8) != nil
          && sample.firstRange(of: OfficeFile.openDocumentSpreadsheet.utf8) != nil
      }
      // A program that doesn't put the type first.
      guard options.format == .ods else { return false }
      return try WorkbookParts(descriptor: descriptor, options: options, blockSize: 256 << 10)[part] != nil
    } catch {
      // What is wrong with the file is reported when it is opened.
      return false
    }
  }

  var fileSize: Int64 {
    get throws(ReaderError) { try PlainSource(descriptor: descriptor).size }
  }

  /// The tables, from the first.
  func tables() throws(ReaderError) -> OpenDocumentTables {
    if let zipped { return try OpenDocumentTables(zipped.parts.open(zipped.member)) }
    let file = try PlainSource(descriptor: descriptor)
    return try OpenDocumentTables(PartReader(file, part: "office:document", options: options, blockSize: blockSize))
  }

  /// Whether the parts can't be read without a password: as a whole, or each by itself.
  private static func isEncrypted(_ parts: WorkbookParts) throws(ReaderError) -> Bool {
    if parts["encrypted-package"] != nil { return true }
    guard let member = parts[manifest] else { return false }
    let manifest = try parts.open(member)
    do throws(ReaderError) {
      while true {
        switch try manifest.next() {
        case .start: if manifest.isNamed("encryption-data") { return true }
        case .end, .text: break
        case .finished: return false
        }
      }
    } catch .workbook(.malformed) {
      // Old programs declare a document type there. The content says whether it can be read.
      return false
    }
  }
}
