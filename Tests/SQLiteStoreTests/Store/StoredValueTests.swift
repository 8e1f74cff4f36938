import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Values come back as they were saved")
struct StoredValueTests {
  @Test("of every attribute type, and at its bounds", arguments: StoreKind.allCases)
  func roundTrip(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    // PostgreSQL has no text with a zero, and the store refuses it.
    let zero = kind == .postgres ? "" : "\u{0}"
    let sets: [[String: Value]] = [
      [
        "small": .int(Int64(Int16.min)), "medium": .int(Int64(Int32.min)), "large": .int(.min), "amount": .decimal(0),
        "ratio": .double(-.greatestFiniteMagnitude), "part": .double(Double(Float.leastNonzeroMagnitude)),
        "text": .string(""), "flag": .bool(false), "day": .date(Date(timeIntervalSince1970: -62_135_596_800)),
        "instant": .date(Date(timeIntervalSince1970: 0)), "bytes": .data(Data()), "uid": .uuid(UUID()),
        "site": .uri(try #require(URL(string: "https://example.org/a?b=c%20d"))), "shape": .data(Data([0, 255])),
      ],
      [
        "small": .int(Int64(Int16.max)), "medium": .int(Int64(Int32.max)), "large": .int(.max),
        "amount": .decimal(try #require(Decimal(string: "12345678901234567890.123456789012345678"))),
        "ratio": .double(.infinity), "part": .double(Double(Float.pi)), "text": .string("a\(zero)b\n\"'é\u{1F600}"),
        "flag": .bool(true), "day": .date(Date(timeIntervalSince1970: 1_700_000_000.25)),
        "instant": .date(Date(timeIntervalSince1970: 1_700_000_000.5)),
        "bytes": .data(Data(repeating: 7, count: 100_000)),
        "uid": .uuid(UUID()), "site": .uri(try #require(URL(string: "urn:x"))), "shape": .null,
      ],
      [:],
    ]
    let writer = stack.context()
    let ids = try sets.map { values in
      let sample = try writer.insert(Sample.self)
      for (name, value) in values { try sample.setValue(value, forKey: name) }
      return sample
    }
    try writer.save()
    let reader = stack.context()
    for (sample, values) in zip(ids, sets) {
      let again = try reader.existingObject(with: sample.objectID)
      for attribute in again.entity.attributes where !attribute.isTransient {
        let expected = values[attribute.name] ?? attribute.defaultValue
        #expect(again.value(at: attribute.slot) == expected, "\(attribute.name)")
      }
    }
  }

  @Test("of decimals with up to 38 digits", arguments: StoreKind.allCases)
  func decimals(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let texts = [
      "0.1", "-0.01", "123456789012345", "1234567890.12345", "0.000000000000000000000000000001",
      "9223372036854775807", "9223372036854775808", "-9223372036854775809", "99999999999999999999999999999999999999",
      "0.12345678901234567890123456789012345678",
    ]
    let numbers = try texts.map { try #require(Decimal(string: $0)) }
    for number in numbers { try writer.insert(Sample.self).amount = number }
    try writer.save()
    let found = try stack.context().all(Sample.self, sortedBy: "amount").map(\.amount)
    #expect(found == numbers.sorted().map(Optional.init))
  }

  @Test("a long text and many rows in one save", arguments: StoreKind.allCases)
  func longTexts(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let lengths = [0, 1, 63 * 1024, 64 * 1024, 64 * 1024 + 1, 300_000]
    for length in lengths { try writer.insert(Sample.self).text = String(repeating: "ü", count: length) }
    try writer.save()
    #expect(try stack.context().all(Sample.self).map { $0.text?.count ?? -1 }.sorted() == lengths)
  }
}
