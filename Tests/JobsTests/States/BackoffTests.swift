import Jobs
import Testing

@Suite("Backoff")
struct BackoffTests {
  @Test("delays double up to the longest")
  func doubling() {
    let backoff = Backoff(first: 10, longest: 60, spread: 0.2)
    #expect([1, 2, 3, 4, 5, 1000].map { backoff.delay(afterAttempt: $0, random: 0.5) } == [10, 20, 40, 60, 60, 60])
  }

  @Test("delays are spread by a part of themselves in both directions")
  func spread() {
    let backoff = Backoff(first: 100, longest: 1000, spread: 0.2)
    #expect(backoff.delay(afterAttempt: 1, random: 0) == 80)
    #expect(backoff.delay(afterAttempt: 1, random: 1) == 120)
  }
}
