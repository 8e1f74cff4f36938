// An Excel workbook is a zip of XML parts that refer to each other by names, ECMA-376.

/// An Excel workbook: its sheets, and where its other parts are.
struct ExcelWorkbook: Workbook {
  /// Charts aren't among them: they have no cells.
  let sheets: [WorkbookSheet]
  private let is1904: Bool
  private let package: ExcelPackage
  /// The parts of the sheets, by their index.
  private let sheetParts: [Int: ArchiveMember]
  private let strings: ArchiveMember?
  private let styles: ArchiveMember?

  /// - Throws: ``WorkbookError``, or what is wrong with the archive.
  init(descriptor: Int32, options: ReaderOptions, blockSize: Int = 256 << 10) throws(ReaderError) {
    let package = try ExcelPackage(descriptor: descriptor, options: options, blockSize: blockSize)
    self.package = package
    if package.isBinary { throw .workbook(.binaryFormat) }
    guard let main = try package.mainPart() else { throw .workbook(.notAWorkbook) }
    let links = try package.links(of: main)
    let listed = try Self.list(package, main)
    is1904 = listed.is1904
    var sheets: [WorkbookSheet] = []
    var sheetParts: [Int: ArchiveMember] = [:]
    for (index, entry) in listed.entries.enumerated() {
      guard let link = links[entry.link] else { throw .workbook(.missingPart(name: entry.name)) }
      guard link.kind == "worksheet" else { continue }
      sheets.append(WorkbookSheet(name: entry.name, index: index, isHidden: entry.isHidden))
      sheetParts[index] = try package.parts.require(link.target)
    }
    self.sheets = sheets
    self.sheetParts = sheetParts
    func other(_ kind: String) throws(ReaderError) -> ArchiveMember? {
      guard let link = links.values.first(where: { $0.kind == kind }) else { return nil }
      return try package.parts.require(link.target)
    }
    strings = try other("sharedStrings")
    styles = try other("styles")
  }

  /// Whether a file with this beginning is a workbook, of a kind that can be read or that is refused by its name.
  static func isWorkbook(descriptor: Int32, beginning: [UInt8], options: ReaderOptions) -> Bool {
    guard SourceArchiveKind.zipSignatures.contains(where: beginning.starts(with:)) else { return false }
    if OfficeFile.isSpreadsheetOfOpenDocument(beginning) { return options.format == .xlsx }
    do throws(ReaderError) {
      return try ExcelPackage(descriptor: descriptor, options: options, blockSize: 256 << 10).isWorkbook
    } catch {
      // What is wrong with the archive is reported when its members are looked for.
      return false
    }
  }

  var fileSize: Int64 { package.parts.fileSize }

  func rows(of sheet: WorkbookSheet, _ options: ReaderOptions) throws(ReaderError) -> any SheetRows {
    guard let part = sheetParts[sheet.index] else { throw .workbook(.missingPart(name: sheet.name)) }
    return try ExcelRows(
      package.parts.open(part), strings: sharedStrings(maximumBytes: options.maximumWorkbookText), styles: dateStyles(),
      dates: ExcelDate(is1904: is1904), maximumTextBytes: options.maximumWorkbookText)
  }

  /// The texts that cells refer to.
  private func sharedStrings(maximumBytes: Int) throws(ReaderError) -> SharedStrings {
    guard let strings else { return SharedStrings(nil, maximumBytes: maximumBytes) }
    return SharedStrings(try package.parts.open(strings), maximumBytes: maximumBytes)
  }

  /// How the cells with each style show their numbers.
  private func dateStyles() throws(ReaderError) -> [ExcelDate.Style] {
    guard let styles else { return [] }
    return try CellStyles.read(package.parts.open(styles))
  }

  private struct Entry {
    let name: String
    let link: String
    let isHidden: Bool
  }

  /// The sheets that the main part names, and its system of dates.
  private static func list(
    _ package: ExcelPackage, _ main: ArchiveMember
  ) throws(ReaderError) -> (entries: [Entry], is1904: Bool) {
    let part = try package.parts.open(main)
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
        guard entries.count < WorkbookSheet.limit else {
          throw .workbook(.tooMuch(of: "sheets", limit: WorkbookSheet.limit))
        }
        entries.append(Entry(name: name, link: link, isHidden: isHidden))
        try part.skip()
      }
    }
    return (entries, is1904)
  }
}

/// The parts of a workbook by name, and their relationships, ECMA-376 part 2.
private struct ExcelPackage {
  struct Link {
    /// The last component of its type, which the strict and the transitional variant share.
    let kind: String
    /// The part's name.
    let target: String
  }

  private static let linkLimit = 100_000
  private static let contentTypes = "[content_types].xml"

  let parts: WorkbookParts

  init(descriptor: Int32, options: ReaderOptions, blockSize: Int) throws(ReaderError) {
    let beginning = try PlainSource(descriptor: descriptor).readSample(SourceSample.signatureSize)
    if OfficeFile.isSpreadsheetOfOpenDocument(beginning) { throw .workbook(.openDocument) }
    guard SourceArchiveKind.zipSignatures.contains(where: beginning.starts(with:)) else {
      throw .workbook(.notAWorkbook)
    }
    parts = try WorkbookParts(descriptor: descriptor, options: options, blockSize: blockSize)
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
      let part = try parts.open(main)
      guard case .start = try part.next() else { return false }
      return part.isNamed("workbook")
    } catch {
      return false
    }
  }

  var isBinary: Bool { parts["xl/workbook.bin"] != nil && parts["xl/workbook.xml"] == nil }

  /// The part that the package is about; nil if it says none.
  func mainPart() throws(ReaderError) -> ArchiveMember? {
    guard parts["_rels/.rels"] != nil else { return nil }
    let links = try links(in: "_rels/.rels", from: "")
    guard let main = links.values.first(where: { $0.kind == "officeDocument" }) else { return nil }
    return try parts.require(main.target)
  }

  /// The parts that a part refers to, by ID.
  func links(of part: ArchiveMember) throws(ReaderError) -> [String: Link] {
    let name = WorkbookParts.key(part.name)
    let folder = name.lastIndex(of: "/").map { String(name[...$0]) } ?? ""
    return try links(in: "\(folder)_rels/\(name.dropFirst(folder.count)).rels", from: folder)
  }

  private func links(in name: String, from folder: String) throws(ReaderError) -> [String: Link] {
    guard let member = parts[name] else { return [:] }
    let part = try parts.open(member)
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
}
