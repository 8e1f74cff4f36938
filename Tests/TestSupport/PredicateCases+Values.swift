import Foundation

extension PredicateCases {
  /// A date in a year that ISO text can't say.
  static func farAway(_ year: Int) -> Date { Date(timeIntervalSince1970: Double(year - 1970) * 31_556_952) }

  static func bytes(_ bytes: [UInt8]) -> Data { Data(bytes) }

  /// Data of which the last is the flag of the first city.
  static func data(_ index: Int) -> Data {
    index == 599 ? Data([1, 2, 3]) : Data(repeating: UInt8(index % 256), count: 5)
  }
}
