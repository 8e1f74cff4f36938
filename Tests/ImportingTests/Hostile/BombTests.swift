import CArchive
import Testing

@testable import Importing

/// Ways in which a file may expand.
enum Bomb: String, CaseIterable, Codable, Sendable {
  case gzip, bzip2, xz, zstd, zip, tarGzip, plist

  var name: String {
    switch self {
    case .gzip, .bzip2, .xz, .zstd: "a.csv"
    case .zip: "a.zip"
    case .tarGzip: "a.tar"
    case .plist: "a.plist"
    }
  }

  /// Gigabytes in a small file.
  func pack() throws -> [UInt8] {
    let head = Array("code,name\na,".utf8)
    let piece = [UInt8](repeating: 0x78, count: 1 << 20)
    func long() -> [UInt8] { head + [UInt8](repeating: 0x78, count: 80 << 20) }
    func repeated(_ kind: SourceCompression) throws -> [UInt8] {
      let piece = try Packing.compressed(piece, kind)
      return try Packing.compressed(head, kind) + [[UInt8]](repeating: piece, count: 2_048).joined()
    }
    switch self {
    case .gzip: return try repeated(.gzip)
    case .bzip2: return try repeated(.bzip2)
    case .xz: return try repeated(.xz)
    case .zstd: return try repeated(.zstd)
    case .zip: return try Packing.zip([("a.csv", long())])
    case .tarGzip: return try Packing.tar([("a.csv", long())], .gzip)
    case .plist: return Self.laughs
    }
  }

  /// A property list of 16 arrays, each of which holds the next sixteen times.
  private static var laughs: [UInt8] {
    let depth = 16
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []
    for level in 1...depth {
      offsets.append(bytes.count)
      bytes += [0xAF, 0x10, 16] + [UInt8](repeating: UInt8(level), count: 16)
    }
    offsets.append(bytes.count)
    bytes += [0x51, 0x78]
    let table = bytes.count
    for offset in offsets { bytes += [UInt8(offset >> 8), UInt8(offset & 0xFF)] }
    func number(_ value: Int) -> [UInt8] { (0..<8).map { UInt8(value >> (56 - 8 * $0) & 0xFF) } }
    return bytes + [0, 0, 0, 0, 0, 0, 2, 1] + number(depth + 1) + number(0) + number(table)
  }
}

@Suite("Files that expand far beyond their size")
struct BombTests {
  @Test("end at the limit, in bounded memory, with advice", arguments: Bomb.allCases)
  func bomb(kind: Bomb) async {
    await #expect(processExitsWith: .success) { [kind = kind as Bomb] in
      var options = ReaderOptions()
      var words = ["maximum_expansion", "more than 250 for each"]
      // Its text is made in small pieces, which takes long before optimisation.
      if kind == .plist { (options.maximumUnpackedBytes, words) = (2 << 20, ["maximum_unpacked_bytes"]) }
      try HostileImport.run(kind.name, .fails(words), reader: options) { url in
        try HoleyFile(url).write(kind.pack())
      }
    }
  }

  @Test("nested in each other are refused before they are unpacked")
  func nested() async {
    await #expect(processExitsWith: .success) {
      let inner = try Packing.zip([("a.csv", [UInt8](repeating: 0x78, count: 2 << 20))])
      try HostileImport.run("a.zip", .fails(["an archive"])) { url in
        try HoleyFile(url).write(Packing.zip([("b.zip", inner)]))
      }
      for kind in SourceCompression.allCases {
        try HostileImport.run("a.csv", .fails(["inside"])) { url in
          try HoleyFile(url).write(Packing.compressed(Packing.compressed(inner, kind), .gzip))
        }
      }
    }
  }

  @Test("a zip with wrong sizes yields its actual rows, or an error", arguments: [0, 1, 0xFFFF_FFF0])
  func lyingZip(size: UInt32) async {
    await #expect(processExitsWith: .success) { [size = size as UInt32] in
      let rows = "code,name\n" + (0..<2_000).map { "p\($0),N\n" }.joined() + "z,N\n"
      var zip = try Packing.zip([("a.csv", Array(rows.utf8))])
      let directory = try #require(zip.firstRange(of: Array("PK\u{1}\u{2}".utf8))).lowerBound
      for byte in 0..<4 { zip[directory + 24 + byte] = UInt8(truncatingIfNeeded: size >> (8 * UInt32(byte))) }
      try HostileImport.run("a.zip", .either(.imports(["z"]), .fails(["zip"]))) { try HoleyFile($0).write(zip) }
    }
  }

  @Test("a tar member that is mostly a hole is refused, wherever the hole is")
  func sparseTar() async {
    await #expect(processExitsWith: .success) {
      let rows = Array("code,name\nz,N\n".utf8)
      for size in [rows.count + 1, 1 << 40] {
        try HostileImport.run("a.tar", .fails(["holes"])) {
          try HoleyFile($0).write(Packing.sparseTar("a.csv", rows, size: Int64(size)))
        }
      }
    }
  }

  @Test("a tar that claims 8 GiB, or more than it has, ends at its actual end", arguments: [0, 1])
  func lyingTar(way: Int) async {
    await #expect(processExitsWith: .success) { [way = way as Int] in
      var tar = try Packing.tar([("a.csv", Array("code,name\nz,N\n".utf8))])
      let size = way == 0 ? Array("77777777777".utf8) : [0x80, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
      tar.replaceSubrange(124..<124 + size.count, with: size)
      tar.replaceSubrange(148..<156, with: [UInt8](repeating: 0x20, count: 8))
      let sum = tar[..<512].reduce(0) { $0 + Int($1) }
      let digits = String(sum, radix: 8)
      let field = String(repeating: "0", count: 6 - digits.count) + digits + "\0 "
      tar.replaceSubrange(148..<156, with: Array(field.utf8))
      try HostileImport.run("a.tar", .fails(["tar"])) { try HoleyFile($0).write(tar) }
    }
  }
}
