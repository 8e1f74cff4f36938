import Foundation

/// A zip archive whose members aren't compressed, byte after byte as PKWARE's APPNOTE.TXT has it.
enum StoredZip {
  static func bytes(_ files: [(String, Data)]) -> Data {
    var members = Data()
    var directory = Data()
    for (fileName, content) in files {
      let name = Data(fileName.utf8)
      let place = UInt32(members.count)
      // Version, flags, method, time and date, hash, packed and unpacked length, lengths of name and of nothing else.
      let common =
        little(20, 2) + little(0, 2) + little(0, 2) + little(0, 2) + little(0x21, 2) + little(crc32(content), 4)
        + little(UInt32(content.count), 4) + little(UInt32(content.count), 4)
        + little(UInt32(name.count), 2) + little(0, 2)
      members += little(0x0403_4B50, 4) + common + name + content
      directory += little(0x0201_4B50, 4) + little(20, 2) + common
      directory += little(0, 2) + little(0, 2) + little(0, 2) + little(0, 4) + little(place, 4) + name
    }
    let count = little(UInt32(files.count), 2)
    let end =
      little(0x0605_4B50, 4) + little(0, 2) + little(0, 2) + count + count + little(UInt32(directory.count), 4)
      + little(UInt32(members.count), 4) + little(0, 2)
    return members + directory + end
  }

  private static func little(_ number: UInt32, _ count: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) })
  }

  private static func crc32(_ data: Data) -> UInt32 {
    var crc: UInt32 = 0xFFFF_FFFF
    for byte in data {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
    }
    return ~crc
  }
}
