// A workbook is a zip of XML parts that refer to each other by names, ECMA-376. Nothing is unpacked to disk, and names are
// compared only: one that leads out of the archive finds nothing. Each part is read by a pass of its own, in any order.

/// An Excel workbook: its sheets, and where its other parts are.
struct Workbook {
  struct Sheet: Hashable {
    let name: String
    /// Its place among all sheets.
    let index: Int
    let isHidden: Bool
    fileprivate let part: ArchiveMember
  }

  /// The sheets with cells, in their order: charts have none.
  let sheets: [Sheet]
  let is1904: Bool
  let fileSize: Int64
  private let package: WorkbookPackage
  private let strings: ArchiveMember?
  private let styles: ArchiveMember?

  /// As many parts can be imported from one file.
  static let sheetLimit = 10_000

  /// - Throws: ``WorkbookError``, or what is wrong with the archive.
  init(descriptor: Int32, options: ReaderOptions, blockSize: Int = 256 << 10) throws(ReaderError) {
    let package = try WorkbookPackage(descriptor: descriptor, options: options, blockSize: blockSize)
    self.package = package
    fileSize = try PlainSource(descriptor: descriptor).size
    if package.isBinary { throw .workbook(.binaryFormat) }
    guard let main = try package.mainPart() else { throw .workbook(.notAWorkbook) }
    let links = try package.links(of: main)
    let listed = try Self.list(package, main)
    is1904 = listed.is1904
    var sheets: [Sheet] = []
    for (index, entry) in listed.entries.enumerated() {
      guard let link = links[entry.link] else { throw .workbook(.missingPart(name: entry.name)) }
      guard link.kind == "worksheet" else { continue }
      sheets.append(
        Sheet(name: entry.name, index: index, isHidden: entry.isHidden, part: try package.require(link.target)))
    }
    self.sheets = sheets
    func other(_ kind: String) throws(ReaderError) -> ArchiveMember? {
      guard let link = links.values.first(where: { $0.kind == kind }) else { return nil }
      return try package.require(link.target)
    }
    strings = try other("sharedStrings")
    styles = try other("styles")
  }

  /// Whether a file with this beginning is a workbook, of a kind that can be read or that is refused by its name.
  static func isWorkbook(descriptor: Int32, beginning: [UInt8], options: ReaderOptions) -> Bool {
    guard SourceArchiveKind.zipSignatures.contains(where: beginning.starts(with:)) else { return false }
    if OfficeFile.isSpreadsheetOfOpenDocument(beginning) { return true }
    do throws(ReaderError) {
      return try WorkbookPackage(descriptor: descriptor, options: options, blockSize: 256 << 10).isWorkbook
    } catch {
      // What is wrong with the archive is reported when its members are looked for.
      return false
    }
  }

  /// The sheets that options choose: by name, by a pattern, or all that aren't hidden.
  func chosen(_ member: String?) throws(ReaderError) -> [Sheet] {
    guard let member else {
      let visible = sheets.filter { !$0.isHidden }
      return visible.isEmpty ? sheets : visible
    }
    if let exact = sheets.first(where: { $0.name == member }) { return [exact] }
    // As Excel compares names.
    let same = sheets.filter { $0.name.lowercased() == member.lowercased() }
    if !same.isEmpty { return same }
    let pattern = MemberPattern(member)
    let found = sheets.filter { pattern.matches($0.name) }
    guard !found.isEmpty else {
      throw .workbook(.sheetNotFound(sheet: member, found: sheets.prefix(20).map(\.name)))
    }
    return found
  }

  /// The one sheet that options choose.
  func sheet(_ member: String?) throws(ReaderError) -> Sheet {
    let found = try chosen(member)
    guard let only = found.first else { throw .workbook(.noSheet) }
    guard found.count == 1 else { throw .workbook(.severalSheets(found: found.prefix(20).map(\.name))) }
    return only
  }

  /// The XML of a sheet.
  func open(_ sheet: Sheet) throws(ReaderError) -> PartReader { try package.open(sheet.part) }

  /// The texts that cells refer to.
  func sharedStrings(maximumBytes: Int) throws(ReaderError) -> SharedStrings {
    guard let strings else { return SharedStrings(nil, maximumBytes: maximumBytes) }
    return SharedStrings(try package.open(strings), maximumBytes: maximumBytes)
  }

  /// How the cells with each style show their numbers.
  func dateStyles() throws(ReaderError) -> [ExcelDate.Style] {
    guard let styles else { return [] }
    return try CellStyles.read(package.open(styles))
  }

  private struct Entry {
    let name: String
    let link: String
    let isHidden: Bool
  }

  /// The sheets that the main part names, and its system of dates.
  private static func list(
    _ package: WorkbookPackage, _ main: ArchiveMember
  ) throws(ReaderError) -> (entries: [Entry], is1904: Bool) {
    let part = try package.open(main)
    guard case .start = try part.next(), part.isNamed("workbook") else { throw .workbook(.notAWorkbook) }
    var entries: [Entry] = []
    var is1904 = false
    while try part.nextChild(at: 1) {
      if part.isNamed("workbookPr") { is1904 = part.flag("date1904") }
      guard part.isNamed("sheets") else {
        try part.skip()
        continue
      }
      while try part.nextChild(at: 2) {
        guard part.isNamed("sheet"), let name = part.text(of: "name"), let link = part.text(of: "id") else {
          throw part.fault("a sheet needs a name and an ID")
        }
        let isHidden = ["hidden", "veryHidden"].contains(part.text(of: "state") ?? "")
        guard entries.count < sheetLimit else { throw .workbook(.tooMuch(of: "sheets", limit: sheetLimit)) }
        entries.append(Entry(name: name, link: link, isHidden: isHidden))
        try part.skip()
      }
    }
    return (entries, is1904)
  }
}

/// The parts of a workbook by name, and their relationships, ECMA-376 part 2.
private struct WorkbookPackage {
  struct Link {
    /// The last component of its type, which the strict and the transitional variant share.
    let kind: String
    /// The part's name.
    let target: String
  }

  private static let linkLimit = 100_000
  private static let contentTypes = "[content_types].xml"

  private let descriptor: Int32
  private let options: ReaderOptions
  private let blockSize: Int
  /// By name in lower case, with slashes: names of parts don't differ by case.
  private let parts: [String: ArchiveMember]

  init(descriptor: Int32, options: ReaderOptions, blockSize: Int) throws(ReaderError) {
    self.descriptor = descriptor
    self.options = options
    self.blockSize = blockSize
    let file = try PlainSource(descriptor: descriptor)
    let beginning = try file.readSample(SourceSample.signatureSize)
    if OfficeFile.isSpreadsheetOfOpenDocument(beginning) { throw .workbook(.openDocument) }
    guard SourceArchiveKind.zipSignatures.contains(where: beginning.starts(with:)) else {
      throw .workbook(.notAWorkbook)
    }
    let archive = try SourceArchive(
      .zip, over: file, limit: options.expansionLimit, blockSize: blockSize, withSystemFiles: true)
    parts = Dictionary(archive.members.map { (Self.key($0.name), $0) }) { first, _ in first }
  }

  /// Whether it has parts that only a workbook has.
  var isWorkbook: Bool {
    guard parts[Self.contentTypes] != nil else { return false }
    return isBinary || parts["xl/workbook.xml"] != nil || hasWorkbookElsewhere
  }

  /// A workbook whose main part isn't where Excel writes it.
  private var hasWorkbookElsewhere: Bool {
    do throws(ReaderError) {
      guard let main = try mainPart() else { return false }
      let part = try open(main)
      guard case .start = try part.next() else { return false }
      return part.isNamed("workbook")
    } catch {
      return false
    }
  }

  var isBinary: Bool { parts["xl/workbook.bin"] != nil && parts["xl/workbook.xml"] == nil }

  func require(_ name: String) throws(ReaderError) -> ArchiveMember {
    guard let part = parts[Self.key(name)] else { throw .workbook(.missingPart(name: name)) }
    if part.isEncrypted { throw .workbook(.encrypted) }
    return part
  }

  /// The part that the package is about; nil if it says none.
  func mainPart() throws(ReaderError) -> ArchiveMember? {
    guard parts["_rels/.rels"] != nil else { return nil }
    let links = try links(in: "_rels/.rels", from: "")
    guard let main = links.values.first(where: { $0.kind == "officeDocument" }) else { return nil }
    return try require(main.target)
  }

  /// The parts that a part refers to, by ID.
  func links(of part: ArchiveMember) throws(ReaderError) -> [String: Link] {
    let name = Self.key(part.name)
    let folder = name.lastIndex(of: "/").map { String(name[...$0]) } ?? ""
    return try links(in: "\(folder)_rels/\(name.dropFirst(folder.count)).rels", from: folder)
  }

  func open(_ member: ArchiveMember) throws(ReaderError) -> PartReader {
    let source = ArchiveSource(
      .archive(.zip), over: try PlainSource(descriptor: descriptor), member: (member.index, member.name, member.size),
      limit: options.expansionLimit, blockSize: blockSize)
    let peeked = try PeekedSource(source, sampling: 256)
    let guess = EncodingGuess(sample: peeked.sample, isWhole: peeked.isWhole, options: ReaderOptions())
    let text: any ByteSource =
      guess.encoding == .utf8 ? peeked : try TranscodedSource(peeked, guess.encoding, blockSize: blockSize)
    let window = try SourceWindow(source: text, encoding: guess.encoding, blockSize: blockSize)
    // A byte order mark is skipped there.
    _ = try window.fill()
    return PartReader(
      window, part: member.name, maximumTokenBytes: options.maximumWorkbookText)
  }

  private func links(in name: String, from folder: String) throws(ReaderError) -> [String: Link] {
    guard let member = parts[Self.key(name)] else { return [:] }
    let part = try open(member)
    guard case .start = try part.next() else { throw part.fault("it is empty") }
    var links: [String: Link] = [:]
    while try part.nextChild(at: 1) {
      if part.isNamed("Relationship"), part.text(of: "TargetMode") != "External", let id = part.text(of: "Id"),
        let type = part.text(of: "Type"), let target = part.text(of: "Target")
      {
        guard links.count < Self.linkLimit else {
          throw .workbook(.tooMuch(of: "relationships", limit: Self.linkLimit))
        }
        let kind = type.split(separator: "/").last.map(String.init) ?? ""
        links[id] = Link(kind: kind, target: Self.resolve(target, in: folder))
      }
      try part.skip()
    }
    return links
  }

  /// The name of a part from a reference in a part of a folder.
  private static func resolve(_ target: String, in folder: String) -> String {
    let target = target.replacing("\\", with: "/")
    var names: [Substring] = []
    for name in (target.hasPrefix("/") ? target : folder + target).split(separator: "/") {
      switch name {
      case ".": continue
      case "..": _ = names.popLast()
      default: names.append(name)
      }
    }
    return names.joined(separator: "/")
  }

  private static func key(_ name: String) -> String {
    var key = name.lowercased().replacing("\\", with: "/")
    while key.hasPrefix("/") { key.removeFirst() }
    return key
  }
}

extension ReaderOptions {
  /// The longest text of a cell, and the longest tag. Excel's have up to 32,767 characters, whatever a record may have.
  var maximumWorkbookText: Int { max(maximumRecordBytes, 256 << 10) }
}

/// Files of other Office formats, which are refused by name.
enum OfficeFile {
  private static let compound: [UInt8] = [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]

  /// Whether the zip that begins like this is an OpenDocument spreadsheet: its first member is its type, not compressed.
  static func isSpreadsheetOfOpenDocument(_ beginning: [UInt8]) -> Bool {
    beginning.firstRange(of: Array("application/vnd.oasis.opendocument.spreadsheet".utf8)) != nil
  }

  /// Refuses an old workbook and an encrypted one: both are compound files, which begin alike and differ in their directory.
  static func refuse(descriptor: Int32, beginning: [UInt8]) throws(ReaderError) {
    guard beginning.starts(with: compound), beginning.count >= 52 else { return }
    func number(_ place: Int, _ count: Int) -> Int64 {
      (0..<count).reversed().reduce(0) { $0 << 8 | Int64(beginning[place + $1]) }
    }
    let shift = number(30, 2)
    guard shift == 9 || shift == 12 else { return }
    let file = try PlainSource(descriptor: descriptor)
    guard file.seek(to: (number(48, 4) + 1) << shift) else { return }
    let directory = try file.readSample(4 << 10)
    func has(_ name: String) -> Bool { directory.firstRange(of: name.utf16.flatMap { [UInt8($0 & 0xFF), 0] }) != nil }
    if has("EncryptedPackage") { throw .workbook(.encrypted) }
    if has("Workbook") || has("Book") { throw .workbook(.oldFormat) }
  }
}
