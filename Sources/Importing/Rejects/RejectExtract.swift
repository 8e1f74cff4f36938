package import Foundation
import Glibc
package import ManagedObjects

/// Makes the source of a retry of the rejects that are open: a reject file of its own, and the numbers of its records. For
/// a feed, a tar archive of such files, each in a folder named as its numbers are.
package struct RejectExtract {
  /// A record to be retried.
  package struct Correction: Sendable {
    package var number: Int64
    /// What takes its place; nil: as it is.
    package var record: [UInt8]?

    package init(number: Int64, record: [UInt8]?) {
      self.number = number
      self.record = record
    }
  }

  /// The time that it may take is over.
  package struct Stopped: Error {}

  private let rejects: RejectedRecords
  /// How the retry reads its source.
  private let reading: ReaderOptions
  private let shouldStop: () -> Bool
  private let isDurable: Bool
  private let path: String
  private let expected: Int64
  /// The rejects to retry; nil: all that are open.
  private let corrections: [Int64: Correction]?
  private let resolvers: (ClosedRange<Int64>) throws -> [Int64: Int64]
  /// An empty folder.
  private let scratch: URL
  /// How the entity of a file is found by its name, to name it so in the archive.
  private let isEntityFile: (String) -> Bool
  private var isMarked: Bool { rejects.options.mayReadUTF8AsAnother }

  /// - Parameters:
  ///   - expected: how many records the job rejected.
  ///   - reading: the options that the retry reads it with; nil: those that the rejects are read with.
  ///   - isDurable: false for a source that nobody needs after a loss of power.
  ///   - shouldStop: whether to give up, which is asked again and again.
  ///   - resolvers: the jobs that have resolved rejects in a range of numbers.
  package init(
    of rejects: RejectedRecords, at url: URL, expected: Int64, _ corrections: [Correction]?, scratch: URL,
    reading: ReaderOptions? = nil, isDurable: Bool = true, shouldStop: @escaping () -> Bool = { false },
    isEntityFile: @escaping (String) -> Bool, resolvers: @escaping (ClosedRange<Int64>) throws -> [Int64: Int64]
  ) {
    self.rejects = rejects
    self.reading = reading ?? rejects.options
    self.isDurable = isDurable
    self.shouldStop = shouldStop
    path = url.path
    self.expected = expected
    self.corrections = corrections.map { Dictionary($0.map { ($0.number, $0) }) { $1 } }
    self.scratch = scratch
    self.isEntityFile = isEntityFile
    self.resolvers = resolvers
  }

  /// Writes it, and reads it again as the retry will: a record that met another's number would be resolved in its place. Memory
  /// is that of a batch.
  /// - Parameters:
  ///   - target: the file that it makes.
  ///   - numbers: the file, or for a feed the folder, of their numbers.
  /// - Returns: how many records it has.
  /// - Throws: ``RejectRetryError``, ``Stopped``, `ReaderError`, or ``MappingError/fileFailed(path:operation:reason:)``.
  @discardableResult
  package func write(to target: URL, numbers: URL) throws -> Int64 {
    for number in (corrections ?? [:]).keys where !(1...max(1, expected)).contains(number) || expected == 0 {
      throw RejectRetryError.noSuchReject(number, count: expected)
    }
    var number: Int64 = 0
    var taken: Int64 = 0
    let files = try rejects.files()
    if let only = files.first, only.name == nil {
      taken = try extract(only.url, from: &number, to: target, numbers)
      try check(target, named: target.lastPathComponent, numbers, count: taken)
    } else {
      try make(numbers)
      let archive = try TarWriter(target)
      for (index, file) in files.enumerated() {
        let part = scratch.appendingPathComponent("part")
        try remove(part)
        let folder = String(index + 1)
        let list = numbers.appendingPathComponent(folder)
        let count = try extract(file.url, from: &number, to: part, list)
        taken += count
        if count == 0 { continue }
        let name = name(file.name ?? "")
        try check(part, named: name, list, count: count)
        try archive.add(part, as: folder + "/" + name)
      }
      try archive.finish(isDurable: isDurable)
      try synchronise(numbers)
    }
    guard number == expected else {
      throw RejectRetryError.changed(path: path, found: number, expected: expected)
    }
    guard taken > 0 else { throw RejectRetryError.nothingToRead }
    try synchronise(numbers.deletingLastPathComponent())
    return taken
  }

  /// The name of a feed's file. Of two with one name, the job gave the second another one.
  private func name(_ given: String) -> String {
    guard !isEntityFile(given), let dash = given.firstIndex(of: "-"), Int(given[..<dash]) != nil else { return given }
    return String(given[given.index(after: dash)...])
  }

  // MARK: One file

  private func extract(_ file: URL, from number: inout Int64, to target: URL, _ numbers: URL) throws -> Int64 {
    let reader = try RejectFileReader(file, rejects.options, findsCells: false)
    let output = try RejectFile(
      path: target.path, form: reader.writingForm, isMarked: isMarked, length: 0, isDurable: isDurable)
    let list = try FileSink(numbers)
    var taken: Int64 = 0
    while let entries = try reader.next(1_000) {
      try checkTime()
      let known = try resolvers(number + 1...number + Int64(entries.count))
      for entry in entries {
        number += 1
        guard let record = try self.record(number, entry, known[number], reader, file.lastPathComponent) else {
          continue
        }
        // What is written isn't broken, or not any more.
        let code = entry.isWhole ? entry.reason.code : "corrected"
        output.append([
          Rejection(
            record: 0, line: number, column: entry.reason.column, code: code, message: entry.reason.message,
            raw: record,
            isSelfContained: true)
        ])
        try list.write(RejectNumbers.bytes(of: number))
        taken += 1
      }
      try output.flush()
    }
    try list.finish(isDurable: isDurable)
    return taken
  }

  /// Compares the records of a file that was written, as the retry reads them, with their numbers.
  private func check(_ file: URL, named name: String, _ numbers: URL, count: Int64) throws {
    guard count > 0 else { return }
    let reader = try RejectFileReader(file, reading, named: name, findsCells: false)
    let list = try RejectNumbers(numbers)
    var place: Int64 = 0
    while let entries = try reader.next(1_000) {
      try checkTime()
      let wanted = try list.numbers(from: place, count: Int(min(Int64(entries.count), count - place)))
      guard zip(entries, wanted).allSatisfy({ $0.isWhole && $0.reason.line == $1 }), wanted.count == entries.count
      else {
        let odd = zip(entries, wanted).first { !$0.isWhole || $0.reason.line != $1 }?.1
        throw RejectRetryError.notApart(number: try odd ?? list.numbers(from: count - 1, count: 1)[0])
      }
      place += Int64(entries.count)
    }
    guard place == count else {
      throw RejectRetryError.notApart(number: try list.numbers(from: place, count: 1)[0])
    }
  }

  private func checkTime() throws(Stopped) {
    if shouldStop() { throw Stopped() }
  }

  /// What is retried of a reject; nil if nothing is.
  private func record(
    _ number: Int64, _ entry: RejectFileReader.Entry, _ resolver: Int64?, _ reader: RejectFileReader, _ name: String
  ) throws -> [UInt8]? {
    guard let corrections else { return resolver == nil && entry.isWhole ? entry.record : nil }
    guard let wanted = corrections[number] else { return nil }
    if let resolver { throw RejectRetryError.resolved(number: number, by: resolver) }
    guard let corrected = wanted.record else {
      guard entry.isWhole else { throw RejectRetryError.needsCorrection(number: number) }
      return entry.record
    }
    try checkTime()
    try check(corrected, number, reader, name)
    return corrected
  }

  /// Refuses a text that isn't exactly one record of the format: it could take others along.
  private func check(_ corrected: [UInt8], _ number: Int64, _ rejects: RejectFileReader, _ name: String) throws {
    func refuse(_ reason: String) -> RejectRetryError { .notOneRecord(number: number, reason: reason) }
    let file = scratch.appendingPathComponent("check")
    try remove(file)
    let output = try RejectFile(
      path: file.path, form: rejects.writingForm, isMarked: isMarked, length: 0, isDurable: false)
    output.append([
      Rejection(record: 0, line: 1, column: "", code: "", message: "", raw: corrected, isSelfContained: true)
    ])
    try output.flush()
    let source = try ImportSource(file)
    let batch = RecordBatch()
    var count = 0
    var options = reading
    // Alone in its file, an element of any name would be a record.
    if let path = rejects.recordPath { options.record = path }
    do {
      let reader = try openSource(
        fileDescriptor: source.descriptor, name: name, options: options, from: nil
      ).reader
      while try reader.read(into: batch, limit: 10) {
        for record in 0..<batch.count {
          if let problem = batch.problem(record), !batch.rejection(record, code: "", message: "").isSelfContained {
            throw refuse(problem.description)
          }
          if let reason = RejectSummary.ReasonColumns(batch).reason(record, in: batch), reason.record != nil {
            throw refuse("it isn't an object of this format")
          }
        }
        count += batch.count
      }
    } catch let error as ReaderError {
      throw refuse("\(error)")
    }
    guard count == 1 else { throw refuse(count == 0 ? "it has none" : "it has \(count)") }
  }

  // MARK: Files

  private func make(_ folder: URL) throws {
    guard mkdir(folder.path, 0o750) == 0 || errno == EEXIST else {
      throw MappingError.file(folder.path, "make", code: errno)
    }
  }

  private func remove(_ file: URL) throws {
    guard unlink(file.path) == 0 || errno == ENOENT else { throw MappingError.file(file.path, "remove", code: errno) }
  }

  private func synchronise(_ folder: URL) throws {
    guard isDurable else { return }
    let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw MappingError.file(folder.path, "open", code: errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw MappingError.file(folder.path, "sync", code: errno) }
  }
}

/// A new file, written from front to back.
final class FileSink {
  private static let block = 256 << 10
  private let path: String
  private let descriptor: Int32
  private var buffer: [UInt8] = []

  init(_ url: URL) throws {
    path = url.path
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o640)
    guard descriptor >= 0 else { throw MappingError.file(path, "make", code: errno) }
  }

  deinit { close(descriptor) }

  func write(_ bytes: some Collection<UInt8>) throws {
    buffer += bytes
    if buffer.count >= Self.block { try flush() }
  }

  /// Writes what is left, durably unless nobody needs it after a loss of power.
  func finish(isDurable: Bool = true) throws {
    try flush()
    guard !isDurable || fsync(descriptor) == 0 else { throw MappingError.file(path, "sync", code: errno) }
  }

  private func flush() throws {
    var done = 0
    while done < buffer.count {
      let count = buffer.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw MappingError.file(path, "write", code: errno) }
      done += count
    }
    buffer.removeAll(keepingCapacity: true)
  }
}

/// A tar archive of plain files, by POSIX.1-1988 (ustar), with names of up to 255 bytes in two fields.
final class TarWriter {
  private static let block = 512
  private let sink: FileSink

  init(_ url: URL) throws { sink = try FileSink(url) }

  /// Adds a file.
  /// - Parameter name: a short folder, a slash, and the file's name.
  func add(_ file: URL, as name: String) throws {
    let source = try ImportSource(file)
    let size = ImportSource.length(of: file) ?? 0
    let (folder, own) = Self.parts(of: name)
    // A name that the header has no room for is in a record of its own, as GNU tar writes it.
    if own.utf8.count > 100 {
      let bytes = Array(own.utf8) + [0]
      let long = Array(folder.utf8) + (folder.isEmpty ? [] : [UInt8(ascii: "/")]) + bytes
      try sink.write(Self.header("././@LongLink", "", size: Int64(long.count), kind: UInt8(ascii: "L")))
      try sink.write(long)
      try pad(Int64(long.count))
    }
    try sink.write(Self.header(own, folder, size: size, kind: UInt8(ascii: "0")))
    var offset: off_t = 0
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    while offset < size {
      let count = pread(source.descriptor, &bytes, min(bytes.count, Int(off_t(size) - offset)), offset)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw MappingError.file(file.path, "read", code: errno) }
      try sink.write(bytes.prefix(count))
      offset += off_t(count)
    }
    try pad(size)
  }

  /// Ends the archive, durably unless nobody needs it after a loss of power.
  func finish(isDurable: Bool = true) throws {
    try sink.write([UInt8](repeating: 0, count: 2 * Self.block))
    try sink.finish(isDurable: isDurable)
  }

  private func pad(_ size: Int64) throws {
    let over = Int(size % Int64(Self.block))
    if over > 0 { try sink.write([UInt8](repeating: 0, count: Self.block - over)) }
  }

  private static func parts(of name: String) -> (folder: String, own: String) {
    guard let slash = name.lastIndex(of: "/") else { return ("", name) }
    return (String(name[..<slash]), String(name[name.index(after: slash)...]))
  }

  private static func header(_ name: String, _ folder: String, size: Int64, kind: UInt8) -> [UInt8] {
    var header = [UInt8](repeating: 0, count: block)
    func put(_ bytes: some Collection<UInt8>, at offset: Int) {
      for (index, byte) in bytes.enumerated() { header[offset + index] = byte }
    }
    func octal(_ number: Int64, _ width: Int) -> [UInt8] {
      let digits = String(number, radix: 8)
      return Array((String(repeating: "0", count: max(0, width - digits.count)) + digits).utf8)
    }
    put(name.utf8.prefix(100), at: 0)
    put("0000640".utf8, at: 100)
    put("0000000".utf8, at: 108)
    put("0000000".utf8, at: 116)
    // Past 8 GiB the size is binary, as GNU tar has it.
    if size < 1 << 33 {
      put(octal(size, 11), at: 124)
    } else {
      header[124] = 0x80
      for index in 0..<8 { header[135 - index] = UInt8(truncatingIfNeeded: size >> (8 * index)) }
    }
    put("00000000000".utf8, at: 136)
    put("        ".utf8, at: 148)
    header[156] = kind
    put("ustar\u{0}00".utf8, at: 257)
    put(folder.utf8.prefix(155), at: 345)
    put(octal(header.reduce(0) { $0 + Int64($1) }, 6) + [0, UInt8(ascii: " ")], at: 148)
    return header
  }
}

extension FileFormats {
  /// Whether a file in the folder of a feed's rejects belongs, by its name, to one of the entities.
  package static func isFile(_ name: String, ofOneOf entities: [EntityDescription]) -> Bool {
    !ImportOrder(entities, files: [name]).steps.isEmpty
  }

  /// The format that a file's name says; nil if it says none.
  package func name(ofFileName name: String) -> FileFormatName? { format(ofFileName: name)?.name }

  /// Whether a file's name says that it is compressed or an archive.
  package static func isPacked(fileName: String) -> Bool {
    SourceCompression.ofName(fileName) != nil || [".zip", ".tar", ".tgz"].contains { fileName.hasSuffix($0) }
  }
}
