import ControlAPI
import Foundation
import Logging
import Testing

@testable import LadeDaemon

@Suite("Control: the log in memory")
struct ControlLogTests {
  @Test("a logger's lines are kept with their level, what belongs to them and their job")
  func lines() throws {
    let ring = LogRing()
    var logger = Logger(label: "test") { _ in RingLogHandler(ring) }
    logger.logLevel = .info
    logger[metadataKey: "lane"] = "import"
    logger.debug("too quiet")
    logger.warning("failed", metadata: ["job": "7", "error": "no \(1)"])
    let line = try #require(ring.lines(LogQuery()).first)
    #expect((line.number, line.level, line.message, line.job) == (1, .warning, "failed", 7))
    #expect(line.metadata == ["lane": "import", "error": "no 1"])
    #expect(ring.lines(LogQuery(job: 8)).isEmpty)
  }

  @Test("every logger follows the level of the configuration, but those that have one of their own")
  func level() {
    let (ring, level) = (LogRing(), LiveLogLevel(.info))
    let logger = Logger(label: "test") { _ in LiveLogHandler(level, MultiplexLogHandler([RingLogHandler(ring)])) }
    var (own, copy) = (logger, logger)
    own.logLevel = .notice
    copy[metadataKey: "lane"] = "bulk"
    func logged() -> [String] {
      for each in [logger, own, copy] { each.debug("a") }
      return ring.lines(LogQuery()).map { $0.metadata["lane"] ?? "none" }
    }
    #expect(logged() == [])
    level.level = .debug
    #expect(logged() == ["none", "bulk"])
    level.level = .error
    #expect(logged() == ["none", "bulk"])
  }

  @Test("of more lines than it has room for it keeps the last, each no longer than so much")
  func bounds() {
    let ring = LogRing()
    let long = String(repeating: "x", count: 3 * LogRing.longestText)
    for number in 1...(LogRing.capacity + 5) {
      ring.add(number.isMultiple(of: 2) ? .info : .error, number == 9 ? long : "\(number)", ["v": long])
    }
    let all = ring.lines(LogQuery(limit: LogRing.capacity))
    #expect(all.map(\.number) == Array(6...Int64(LogRing.capacity + 5)))
    #expect(all.allSatisfy { $0.message.count <= LogRing.longestText })
    #expect(all.allSatisfy { $0.metadata["v"]?.count == LogRing.longestText })
    #expect(ring.lines(LogQuery(limit: 2)).map(\.number) == [Int64(LogRing.capacity + 4), Int64(LogRing.capacity + 5)])
    #expect(ring.lines(LogQuery(level: .warning, after: Int64(LogRing.capacity), limit: 9)).count == 3)
  }

  @Test("who listens hears every line from then on, and is forgotten when it goes")
  func listening() async {
    let ring = LogRing()
    ring.add(.info, "before", [:])
    do {
      var lines = ring.stream().makeAsyncIterator()
      for number in 1...100 { ring.add(.info, "\(number)", [:]) }
      for number in 1...100 {
        let line = await lines.next()
        #expect(line?.message == "\(number)")
      }
    }
    #expect(ring.listeners == 0)
  }
}
