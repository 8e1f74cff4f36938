import Foundation
import ManagedObjects
import Testing

@Suite("Dates at the ends of time")
struct FarDateTests {
  @Test("can be subtracted from each other")
  func difference() {
    let end = Date(timeIntervalSince1970: 8_999_999_999_999)
    let start = Date(timeIntervalSince1970: -8_999_999_999_999)
    let subtract = FetchPredicate.Function.subtract
    #expect(subtract.value(of: [.date(end), .date(start)]) == .double(17_999_999_999_998))
    #expect(subtract.value(of: [.date(start), .date(end)]) == .double(-17_999_999_999_998))
    #expect(subtract.value(of: [.date(end), .date(end)]) == .double(0))
  }
}
