import Foundation
import ManagedObjects
import Testing

struct ISODateTests {
  @Test(
    "a date is read in every form",
    arguments: [
      ("1970-01-01", 0), ("2024-02-29", 1_709_164_800), ("2000-02-29T00:00", 951_782_400),
      ("2024-05-31T14:30:00Z", 1_717_165_800), ("2024-05-31 14:30:00", 1_717_165_800),
      ("2024-05-31 14:30", 1_717_165_800),
      ("2024-05-31T16:30:00+02:00", 1_717_165_800), ("2024-05-31T16:30:00+0200", 1_717_165_800),
      ("2024-05-31T16:30+02", 1_717_165_800), ("2024-05-31T00:30:00-14:00", 1_717_165_800),
      ("1969-12-31T23:59:59.5Z", -0.5), ("2024-05-31 14:30:00.25", 1_717_165_800.25), ("0000-01-01", -62_167_219_200),
      ("9999-12-31 23:59:59", 253_402_300_799), ("1969-12-31 23:59:59.9999996", 0),
    ] as [(String, Double)])
  func reads(_ text: String, _ seconds: Double) {
    #expect(ISODate.date(parsing: text) == Date(timeIntervalSince1970: seconds))
  }

  @Test(
    "what isn't a date is refused",
    arguments: [
      "", "2024", "2024-5-31", "2024-02-30", "2023-02-29", "1900-02-29", "2024-13-01", "2024-00-01", "2024-01-00",
      "2024-04-31", "2024-05-31T", "2024-05-31T1430", "2024-05-31T24:00", "2024-05-31T14:60", "2024-05-31T14:30:60",
      "2024-05-31T14:30:00.", "2024-05-31T14:30:00+", "2024-05-31T14:30:00+2", "2024-05-31T14:30:00+02:",
      "2024-05-31T14:30:00+24:00", "2024-05-31T14:30:00ZZ", "2024-05-31Z", "2024-05-31X14:30", "2024/05/31",
      "20240531xx",
      "2024-05-31 14:30:0", "-024-05-31", "2024-05-31T14:30:00.5x", "\u{FF12}024-05-31",
    ])
  func refuses(_ text: String) {
    #expect(ISODate.date(parsing: text) == nil)
  }

  @Test("a date is written as SQLite writes it, and its fraction only where there is one")
  func writes() {
    #expect(ISODate.text(of: Date(timeIntervalSince1970: 0)) == "1970-01-01 00:00:00")
    #expect(ISODate.text(of: Date(timeIntervalSince1970: -0.5)) == "1969-12-31 23:59:59.5")
    #expect(ISODate.text(of: Date(timeIntervalSince1970: 1_717_165_800.25)) == "2024-05-31 14:30:00.25")
    #expect(ISODate.text(of: Date(timeIntervalSince1970: 0.000_001)) == "1970-01-01 00:00:00.000001")
    #expect(ISODate.text(of: Date(timeIntervalSince1970: 0.999_999_9)) == "1970-01-01 00:00:01")
    #expect(ISODate.text(of: Date(timeIntervalSince1970: 253_402_300_799)) == "9999-12-31 23:59:59")
    #expect(ISODate.text(of: Date(timeIntervalSince1970: 253_402_300_800)) == nil)
    #expect(ISODate.text(of: Date(timeIntervalSince1970: -62_167_219_201)) == nil)
    #expect(ISODate.text(of: Date(timeIntervalSince1970: .nan)) == nil)
    #expect(ISODate.text(of: Date(timeIntervalSince1970: .infinity)) == nil)
  }

  @Test("every day from year 0 to 9999 is followed by the next, and reads back as it was written")
  func everyDay() {
    var previous = ""
    for day in stride(from: -719_528, through: 2_932_896, by: 1) {
      let microseconds = Int64(day) * 86_400_000_000 + Int64(abs(day) % 86_400) * 1_000_000 + Int64(abs(day) % 997)
      var buffer = [UInt8](repeating: 0, count: ISODate.longest)
      guard let count = ISODate.write(microseconds: microseconds, to: &buffer) else {
        Issue.record("day \(day) isn't written")
        return
      }
      let back = buffer.withUnsafeBufferPointer { ISODate.microseconds(parsing: .init(rebasing: $0[..<count])) }
      let text = String(decoding: buffer[..<count], as: UTF8.self)
      guard back == microseconds, text > previous else {
        Issue.record("day \(day) is \(text) after \(previous), read as \(back as Any)")
        return
      }
      previous = text
    }
  }

  @Test("a date survives text to the microsecond")
  func roundTrips() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let microseconds = Int64.random(in: -62_167_219_200_000_000..<253_402_300_800_000_000, using: &generator)
      // Far from 1970 a Date is coarser than a microsecond: what it holds is what must survive.
      let date = ISODate.date(microseconds: microseconds)
      guard let text = ISODate.text(of: date) else { continue }
      #expect(ISODate.date(parsing: text).flatMap(ISODate.text(of:)) == text)
    }
  }
}
