import CArchive
import Foundation
import Testing

@testable import Importing

@Suite("Damaged and hostile sources")
struct DamageTests {
  static let text = "id,name\n1,Ann\n2,Ben\n3,Cleo\n"

  @Test(
    "cut off at any byte are an error",
    arguments: [PackedCase.gzip, .bzip2, .xz, .zstd, .zip, .zipStored, .zipSecond, .tarGzip, .tarZstd])
  func truncated(packing: PackedCase) throws {
    let bytes = try packing.pack(Self.text)
    let whole = try SourceFile(bytes, name: packing.name("a.csv")).read(packing.options)
    #expect(whole.records.count == 3 && whole.error == nil)
    for length in 0..<bytes.count {
      let file = try SourceFile(Array(bytes[..<length]), name: packing.name("a.csv"))
      for blockSize in [3, 256 << 10] {
        let result = try file.read(packing.options, blockSize: blockSize)
        #expect(result.error != nil, "\(length) of \(bytes.count)")
        if length == 0 {
          #expect(result.error == .emptyFile)
        } else if case .source? = result.error {
        } else {
          Issue.record("\(length): \(String(describing: result.error))")
        }
      }
    }
  }

  @Test(
    "with any byte changed give the records as they were, or an error",
    arguments: [
      PackedCase.gzip, .bzip2, .xz, .zip, .zipStored, .tarGzip,
    ])
  func corrupt(packing: PackedCase) throws {
    let bytes = try packing.pack(Self.text)
    let whole = try SourceFile(bytes, name: packing.name("a.csv")).read(packing.options)
    for index in bytes.indices {
      for change in [0x01, 0x80, 0xFF] as [UInt8] {
        var damaged = bytes
        damaged[index] ^= change
        let file = try SourceFile(damaged, name: packing.name("a.csv"))
        let result = try file.read(packing.options)
        // A header's date or system may change without any harm.
        if result.error == nil { #expect(result.records == whole.records, "byte \(index)") }
      }
    }
  }

  @Test("bytes after the end are an error, zeros are padding", arguments: SourceCompression.allCases)
  func trailing(kind: SourceCompression) throws {
    let bytes = try Packing.compressed(Array(Self.text.utf8), kind)
    let name = "a.csv.\(kind)"
    let garbage = try SourceFile(bytes + Array("appended by mistake".utf8), name: name).read()
    guard case .source(let error)? = garbage.error else {
      Issue.record("\(String(describing: garbage.error))")
      return
    }
    if kind == .gzip {
      #expect(error == .trailingData(what: "gzip", offset: Int64(bytes.count)))
      let padded = try SourceFile(bytes + [UInt8](repeating: 0, count: 600), name: name).read()
      #expect(padded.error == nil && padded.records.count == 3)
    }
  }

  @Test(
    "parts that were put together are one text, and damage to the second is found",
    arguments: SourceCompression.allCases)
  func concatenated(kind: SourceCompression) throws {
    let first = try Packing.compressed(Array(Self.text.utf8), kind)
    let second = try Packing.compressed(Array("4,Dora\n".utf8), kind)
    let both = try SourceFile(first + second, name: "a.csv").read()
    #expect(both.error == nil && both.records.count == 4)
    var damaged = second
    damaged[0] ^= 0x55
    #expect(try SourceFile(first + damaged, name: "a.csv").read().error != nil)
  }

  @Test("a compressed file of nothing is empty", arguments: [SourceCompression.gzip, .bzip2, .xz, .zstd])
  func nothing(kind: SourceCompression) throws {
    #expect(try SourceFile(Packing.compressed([], kind), name: "a.csv.gz").read().error == .emptyFile)
  }

  @Test("an xz file that asks for gigabytes of memory is refused, in its first block and in a later one")
  func dictionary() throws {
    let honest = try Packing.compressed(Array(Self.text.utf8), .xz)
    var greedy = honest
    // The block's header, behind twelve bytes: its size, flags, the filter and the size of its dictionary, its checksum.
    let length = (Int(greedy[12]) + 1) * 4
    #expect(greedy[14] == 0x21)
    greedy[16] = 40
    let sum = greedy[12..<12 + length - 4].withUnsafeBufferPointer { crc32(0, $0.baseAddress, UInt32($0.count)) }
    for byte in 0..<4 { greedy[12 + length - 4 + byte] = UInt8(truncatingIfNeeded: sum >> UInt(byte * 8)) }
    for bytes in [greedy, honest + greedy] {
      let error = try SourceFile(bytes, name: "a.csv.xz").read().error
      guard case .source(.needsMemory(what: "xz", bytes: let needed, limit: 128 << 20))? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(needed > 4 << 30)
    }
  }

  @Test("a zip's member that is compressed by LZMA is refused by name")
  func zipMethod() throws {
    // As Python's zipfile makes it; libarchive can't.
    let fixture =
      "UEsDBD8AAgAOAAAAIVxFCsw8IgAAAA4AAAAFAAAAYS5jc3YJBAUAXQAAgAAANJkBhYGS6rffmKWIXjYpLaKb//+d5gAAUEsBAj8D"
      + "PwACAA4AAAAhXEUKzDwiAAAADgAAAAUAAAAAAAAAAAAAAIABAAAAAGEuY3N2UEsFBgAAAAABAAEAMwAAAEUAAAAAAA=="
    let bytes = try #require(Data(base64Encoded: fixture))
    let error = try SourceFile(Array(bytes), name: "a.zip").read().error
    #expect(error == .source(.unsupportedMethod(member: "a.csv", method: "lzma")))
  }

  @Test("records before the damage are read first")
  func recordsFirst() throws {
    let rows = (0..<40_000).map { "\($0),\($0 &* 2_654_435_761 % 99_991)\n" }.joined()
    var bytes = try Packing.compressed(Array(("id,n\n" + rows).utf8), .gzip)
    bytes[bytes.count - 6] ^= 1
    let result = try SourceFile(bytes, name: "a.csv.gz").read()
    #expect(result.records.count >= 39_000)
    guard case .source(.corrupt(what: "gzip", _, _))? = result.error else {
      Issue.record("\(String(describing: result.error))")
      return
    }
  }

  @Test("a decompression bomb ends at the limit", arguments: SourceCompression.allCases)
  func bomb(kind: SourceCompression) throws {
    let text = [UInt8](repeating: 0x78, count: 80 << 20)
    let file = try SourceFile(Packing.compressed(text, kind), name: "a.csv")
    func unpack(_ options: ReaderOptions) throws -> Int64 {
      let stages = try SourceStages(
        descriptor: file.descriptor, name: "a.csv", options: options, blockSize: 256 << 10)
      while try !stages.source.readSample(1 << 20).isEmpty {}
      return stages.source.offset
    }
    let error = #expect(throws: ReaderError.self) { try unpack(.init()) }
    guard case .source(.unpacksTooMuch(ratio: 250, let unpacked, _))? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(unpacked < 66 << 20)
    #expect(try unpack(ReaderOptions(maximumExpansion: .max)) == 80 << 20)
    #expect(throws: ReaderError.source(.unpacksTooFar(limit: 100_000))) {
      try unpack(ReaderOptions(maximumUnpackedBytes: 100_000))
    }
  }
}
