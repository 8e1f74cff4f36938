import Testing

@testable import Jobs

@Suite("The pace of polls")
struct PollPaceTests {
  private let quiet = QueuePoll(isNews: false)

  @Test("slows down to a third of the lease while announcements arrive and nothing happens")
  func slower() {
    var pace = PollPace(QueueMembership.Timing(lease: 30))
    pace.hears = true
    let pauses = (1...5).map { _ in pace.next(after: quiet, isWatchful: false) }
    #expect(pauses == [2, 4, 8, 10, 10] && pace.isSlow)
    pace.hasten()
    #expect(!pace.isSlow && pace.next(after: quiet, isWatchful: false) == 2)
  }

  @Test("is fast after news, where something is waited for, and without announcements")
  func fast() {
    var pace = PollPace(shortest: 1, longest: 10)
    #expect(pace.next(after: quiet, isWatchful: false) == 1 && !pace.isSlow)
    pace.hears = true
    for (poll, isWatchful) in [(QueuePoll(isNews: true), false), (quiet, true)] {
      while pace.next(after: quiet, isWatchful: false) < 10 {}
      #expect(pace.next(after: poll, isWatchful: isWatchful) == 1)
    }
    while pace.next(after: quiet, isWatchful: false) < 10 {}
    pace.hears = false
    #expect(pace.next(after: quiet, isWatchful: false) == 1)
  }

  @Test("is never faster than a look at a time, however short the lease is")
  func shortLease() {
    var pace = PollPace(shortest: 1, longest: 0.5)
    pace.hears = true
    #expect(pace.next(after: quiet, isWatchful: false) == 1 && !pace.isSlow)
  }
}
