import Foundation
import Glibc

/// Why no model can be inferred.
package enum InferenceError: Error, Sendable, Hashable, CustomStringConvertible {
  case fileFailed(path: String, operation: String, reason: String)
  /// A file can't be read as records.
  case unreadable(file: String, reason: String)
  /// None of the given files can be read.
  case noFiles(paths: [String])
  /// There is a file at the path already, and overwriting wasn't requested.
  case exists(path: String)
  case badPath(path: String, reason: String)

  package var description: String {
    switch self {
    case .fileFailed(let path, let operation, let reason): "can't \(operation) \(path): \(reason)"
    case .unreadable(let file, let reason): "\(file): \(reason)"
    case .noFiles(let paths):
      "there is no file of a known format in \(paths.joined(separator: ", ")); name the files themselves"
    case .exists(let path): "\(path) is there already; say --force to write over it, or give another path"
    case .badPath(let path, let reason): "\(path): \(reason)"
    }
  }
}

/// A file, a member of an archive or a table of a database, with the records of one entity.
struct InferenceInput: Sendable, Hashable {
  let path: String
  let member: String?
  /// The table, if the database has several.
  var table: String?
  var options: ReaderOptions
  /// The file's name, where its path doesn't say it.
  var fileName: String? = nil
  /// Words for no value; nil for none.
  var nulls: NullWords?
  /// What to say of how it is read.
  var notes: [String] = []

  /// The name that suggests its content.
  var name: String { table ?? FileNames.last(of: member ?? path) }

  /// For messages.
  var shownName: String {
    (member ?? table).map { "\(FileNames.last(of: path)): \(SourceError.shown($0))" } ?? path
  }

  /// Reads all of it, batch by batch. Returns notes on how it was read.
  /// - Parameter declarations: gets what the file says of its columns, before the first batch.
  func read(
    declarations: ([ColumnDeclaration?]) -> Void = { _ in }, _ body: (RecordBatch) throws -> Void
  ) throws -> [String] {
    let file = try OpenFile(path)
    do {
      let log = try SQLiteLog(besideFile: path, database: file.descriptor)
      defer { withExtendedLifetime(log) {} }
      let opened = try openSource(
        fileDescriptor: file.descriptor, name: fileName ?? path, options: options, log: log?.descriptor, from: nil)
      declarations(opened.reader.findings.declarations)
      let batch = RecordBatch()
      // The first batch has the columns, even if there are no records.
      repeat {
        _ = try opened.reader.read(into: batch, limit: 4_096)
        try body(batch)
      } while batch.count > 0
      return opened.detection.notes + notes
    } catch let error as ReaderError {
      if error == .emptyFile { return ["the file is empty"] }
      throw InferenceError.unreadable(file: shownName, reason: "\(error)")
    }
  }

  // MARK: Finding them

  /// The inputs at paths: files, all files in folders, all members of archives, all tables of databases; and notes on those
  /// that were skipped.
  static func find(
    _ paths: [String], options: ReaderOptions
  ) throws -> (inputs: [InferenceInput], notes: [String]) {
    var inputs: [InferenceInput] = []
    var notes: [String] = []
    for path in paths {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
        throw InferenceError.fileFailed(path: path, operation: "read", reason: "there is no such file or folder")
      }
      guard isFolder.boolValue else {
        try add(path, options, &inputs, &notes)
        continue
      }
      let names: [String]
      do {
        names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
      } catch {
        throw InferenceError.fileFailed(path: path, operation: "list", reason: error.localizedDescription)
      }
      for name in names where !name.hasPrefix(".") {
        let file = path.hasSuffix("/") ? path + name : path + "/" + name
        var isInner: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: file, isDirectory: &isInner)
        guard isThere, !isInner.boolValue, FileFormats.standard.hasKnownEnding(name) || isArchive(name) else {
          notes.append("\(file) was skipped: its ending isn't one of a known format")
          continue
        }
        try add(file, options, &inputs, &notes)
      }
    }
    guard !inputs.isEmpty else { throw InferenceError.noFiles(paths: paths) }
    return (inputs, notes)
  }

  private static func add(
    _ path: String, _ options: ReaderOptions, _ inputs: inout [InferenceInput], _ notes: inout [String]
  ) throws {
    let file = try OpenFile(path)
    do {
      let sheets = try Self.sheets(file.descriptor, options)
      guard sheets.count < 2 else {
        for sheet in sheets {
          var chosen = options
          (chosen.format, chosen.member) = (.xlsx, sheet)
          inputs.append(InferenceInput(path: path, member: sheet, options: chosen))
        }
        return
      }
      guard options.member == nil, sheets.isEmpty,
        let archive = try SourceArchive(fileDescriptor: file.descriptor, name: path, options: options)
      else {
        let tables = try Self.tables(path, file.descriptor, options)
        guard tables.count > 1 else {
          inputs.append(InferenceInput(path: path, member: options.member, options: options))
          return
        }
        for table in tables {
          var chosen = options
          chosen.table = table
          inputs.append(InferenceInput(path: path, member: nil, table: table, options: chosen))
        }
        notes.append(
          "\(path) has \(tables.count) tables: import each with the option table, such as table=\(tables[0])")
        return
      }
      for member in archive.members {
        let isReadable =
          FileFormats.standard.hasKnownEnding(member.name) && SourceCompression.ofName(member.name) == nil
        guard archive.members.count == 1 || isReadable else {
          let name = SourceError.shown(member.name)
          notes.append("\(name) was skipped: its ending isn't one of a known format, or it is packed itself")
          continue
        }
        var chosen = options
        chosen.member = member.name
        inputs.append(InferenceInput(path: path, member: member.name, options: chosen))
      }
    } catch let error as ReaderError {
      throw InferenceError.unreadable(file: path, reason: "\(error)")
    }
  }

  /// The sheets of a workbook that options choose; none for any other file.
  private static func sheets(_ descriptor: Int32, _ options: ReaderOptions) throws(ReaderError) -> [String] {
    guard options.format == nil || options.format == .xlsx else { return [] }
    let beginning = try PlainSource(descriptor: descriptor).readSample(SourceSample.signatureSize)
    guard Workbook.isWorkbook(descriptor: descriptor, beginning: beginning, options: options) else { return [] }
    return try Workbook(descriptor: descriptor, options: options).chosen(options.member).map(\.name)
  }

  /// The tables of a database, of which the options choose none; none for any other file.
  private static func tables(
    _ path: String, _ descriptor: Int32, _ options: ReaderOptions
  ) throws(ReaderError) -> [String] {
    guard options.table == nil, options.query == nil else { return [] }
    let file = try PlainSource(descriptor: descriptor)
    guard try file.readSample(SourceSample.signatureSize).starts(with: SQLiteFormat.signature) else { return [] }
    let log = try SQLiteLog(besideFile: path, database: descriptor)
    defer { withExtendedLifetime(log) {} }
    return try SQLiteDatabase(
      descriptor: descriptor, log: log?.descriptor, fileSize: file.size, isQueried: false,
      maximumRecordBytes: options.maximumRecordBytes
    ).tables
  }

  /// The input with a name for each column of a file that has no header line.
  func namingColumns() throws -> InferenceInput {
    let file = try OpenFile(path)
    var probe = options
    (probe.header, probe.columns) = (false, ["column1"])
    var count = 1
    do {
      let opened = try openSource(fileDescriptor: file.descriptor, name: path, options: probe, from: nil)
      guard [.csv, .tsv, .xlsx].contains(opened.detection.format) else { return self }
      let batch = RecordBatch()
      if try opened.reader.read(into: batch, limit: 1), batch.count > 0,
        case .tooManyFields(_, let found)? = batch.problem(0)
      {
        count = found
      }
    } catch let error as ReaderError {
      if error == .emptyFile { return self }
      throw InferenceError.unreadable(file: shownName, reason: "\(error)")
    }
    var named = self
    named.options.header = false
    named.options.columns = (1...count).map { "column\($0)" }
    named.notes.append(
      "its columns have no names: import it with header: false and columns: [column1 to column\(count)], or name them here "
        + "with --option columns=NAME for each")
    return named
  }

  private static func isArchive(_ name: String) -> Bool {
    name.lowercased().hasSuffix(".zip")
      || (SourceCompression.ofName(name)?.inner ?? name).lowercased().hasSuffix(".tar")
  }
}

/// A regular file, open for as long as this lives.
private final class OpenFile {
  let descriptor: Int32

  init(_ path: String) throws {
    // Non-blocking: a FIFO would wait for a writer before it could be refused.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw InferenceError.fileFailed(path: path, operation: "open", reason: String(cString: strerror(errno)))
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == Glibc.S_IFREG else {
      throw InferenceError.fileFailed(path: path, operation: "read", reason: "it isn't a regular file")
    }
  }

  deinit { close(descriptor) }
}
