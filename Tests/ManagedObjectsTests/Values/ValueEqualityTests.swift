import Foundation
import ManagedObjects
import Testing

@Suite("Values")
struct ValueEqualityTests {
  private static let different: [Value] = [
    .null, .unresolved, .bool(false), .bool(true), .int(0), .int(1), .double(0), .double(1), .decimal(0), .decimal(1),
    .string(""), .string("\u{E9}"), .string("e\u{301}"), .string("\u{F900}"), .string("\u{8C48}"),
    .date(Date(timeIntervalSince1970: 0)), .date(Date(timeIntervalSince1970: 1)), .data(Data()), .data(Data([0])),
    .objects([]), .orderedObjects([]), .composite([:]), .composite(["a": .null]),
  ]

  @Test("are the same if a store takes them for the same: texts by their bytes")
  func equality() throws {
    for (index, value) in Self.different.enumerated() {
      for (other, second) in Self.different.enumerated() { #expect((value == second) == (index == other)) }
    }
    #expect(Set(Self.different).count == Self.different.count)
    let again: [Value] = [.string("e" + "\u{301}"), .double(-0.0), .decimal(Decimal(string: "1.00") ?? 0)]
    for value in again { #expect(Set(Self.different).contains(value)) }
    let id = UUID()
    #expect(Value.uuid(id) == .uuid(id) && Value.uuid(id) != .uuid(UUID()))
    let uri = try #require(URL(string: "https://a.example/x"))
    #expect(Value.uri(uri) == .uri(uri))
  }
}
