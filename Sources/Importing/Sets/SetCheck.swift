// All or nothing: whether a set adds up is found out before its first record becomes an object, in each attempt. What is read
// here is read again by the import, which refuses a file that has changed in between.

import Foundation
import LadeTypes

/// Compares the files of a set with what is said of them.
struct SetCheck {
  private static let batch = 10_000

  let folder: SetFolder
  let options: ReaderOptions
  /// Whether values of the files are masked, so that no message may quote them.
  let masks: Bool

  /// - Throws: ``SetFault`` for what doesn't add up; ``KnownFile/Stopped`` when `shouldStop` returned true.
  func run(shouldStop: () -> Bool) throws {
    let (set, parts) = (folder.set, folder.parts)
    let control = try parts.controlFile.map { name in
      (name, try ControlFile(folder.bytes(of: name, limit: ControlFile.longest), name: name))
    }
    if let (name, said) = control { try check(said, name) }
    if set.control.sha256 != nil {
      for part in parts.parts { try checkSum(of: part, control, shouldStop) }
    }
    guard set.control.count == .records || set.control.trailer else { return }
    for part in parts.parts {
      let (found, trailer) = try records(of: part, shouldStop)
      if let trailer {
        let expected = try Self.number(in: trailer, of: part.name)
        if masks, expected != found { throw SetFault.wrongTrailer(file: part.name, found: found) }
        try compare(expected, found, part, "its last line")
      }
      if set.control.count == .records, let (name, said) = control {
        guard let expected = said.counts[part.name] else {
          throw SetFault.unsaid(what: "count", file: part.name, control: name)
        }
        try compare(expected, found, part, name)
      }
    }
  }

  private func compare(_ expected: Int64, _ found: Int64, _ part: FileSetParts.Part, _ control: String) throws(SetFault)
  {
    guard expected == found else {
      throw .wrongNumberOfRecords(file: part.name, expected: expected, found: found, control: control)
    }
  }

  /// What concerns the set as a whole.
  private func check(_ said: ControlFile, _ name: String) throws(SetFault) {
    let names = Set(folder.parts.parts.map(\.name))
    if let stranger = Set(said.counts.keys).union(said.sums.keys).subtracting(names).min() {
      throw .unknownFile(SourceError.shown(stranger), control: name)
    }
    let found = Int64(names.count)
    if let expected = said.files, expected != found {
      throw .wrongNumberOfFiles(expected: expected, found: found, control: name)
    }
    if folder.set.control.count == .files, said.files == nil {
      throw .unsaid(what: "number", file: "files", control: name)
    }
  }

  private func checkSum(
    of part: FileSetParts.Part, _ control: (name: String, said: ControlFile)?, _ shouldStop: () -> Bool
  ) throws {
    let source: String
    let expected: String?
    if let beside = part.checksumFile {
      source = beside
      expected = try ControlFile.checksum(
        in: folder.bytes(of: beside, limit: ControlFile.longest), name: beside, of: part.name)
    } else {
      source = control?.name ?? "the set"
      expected = control?.said.sums[part.name]
    }
    guard let expected else { throw SetFault.unsaid(what: "checksum", file: part.name, control: source) }
    guard let found = try folder.open(part.name).digest(shouldStop: shouldStop) else { throw KnownFile.Stopped() }
    guard found == expected else {
      throw SetFault.wrongChecksum(file: part.name, expected: expected, found: found, control: source)
    }
  }

  /// How many records a file has, those included that can't be imported, and its last line, if that isn't one.
  private func records(
    of part: FileSetParts.Part, _ shouldStop: () -> Bool
  ) throws -> (count: Int64, trailer: [UInt8]?) {
    let source = try folder.open(part.name)
    var options = options
    options.member = nil
    let hasTrailer = folder.set.control.trailer
    var count: Int64 = 0
    do {
      let opened = try openSource(
        fileDescriptor: source.descriptor, name: part.name, options: options, log: source.log?.descriptor,
        hasTrailer: hasTrailer, from: nil)
      if hasTrailer, opened.trailer == nil { throw SetFault.noLines(file: part.name) }
      let batch = RecordBatch()
      while try opened.reader.read(into: batch, limit: Self.batch) {
        count += Int64(batch.count)
        if shouldStop() { throw KnownFile.Stopped() }
      }
      return (count, hasTrailer ? opened.trailer?.line ?? [] : nil)
    } catch ReaderError.emptyFile {
      return (0, hasTrailer ? try lastLine(of: source) : nil)
    } catch let error as ReaderError {
      throw MemberFailure(member: SourceError.shown(part.name), reason: masks ? error.withoutNames : error)
    }
  }

  /// The only line of a text that is nothing but a trailer.
  private func lastLine(of source: ImportSource) throws -> [UInt8] {
    let text = try DecompressedFile(descriptor: source.descriptor)
    var bytes = [UInt8](repeating: 0, count: TrailerSource.longest)
    let count = try bytes.withUnsafeMutableBytes { try text.read(into: $0) }
    return Array(bytes.prefix(count))
  }

  /// The last whole number in a line.
  private static func number(in line: [UInt8], of file: String) throws(SetFault) -> Int64 {
    let isDigit: (UInt8) -> Bool = { (0x30...0x39).contains($0) }
    let digits = line.lastIndex(where: isDigit).map { last -> ArraySlice<UInt8> in
      let start = line[...last].lastIndex { !isDigit($0) }.map { $0 + 1 } ?? 0
      return line[start...last]
    }
    guard let digits, digits.count <= 18, let number = Int64(String(decoding: digits, as: UTF8.self)) else {
      throw .noTrailer(file: file)
    }
    return number
  }
}
