import ControlAPI
import ControlTestSupport
import Foundation
import Testing

@testable import ladectl

@Suite("The whole screen")
struct ScreenTests {
  @Test("only lines that changed are written again, each at its place")
  func painter() {
    var painter = ScreenPainter()
    #expect(painter.paint(["a", "b"]) == "\u{1B}[1;1H\u{1B}[2Ka\u{1B}[2;1H\u{1B}[2Kb")
    #expect(painter.paint(["a", "c"]) == "\u{1B}[2;1H\u{1B}[2Kc")
    #expect(painter.paint(["a"]) == "\u{1B}[2;1H\u{1B}[2K")
    #expect(painter.paint(["a"]) == "")
    #expect(painter.startAnew() == "\u{1B}[2J")
    #expect(painter.paint(["a"]) == "\u{1B}[1;1H\u{1B}[2Ka")
  }

  private func state(running: Int = 2, ended: Int = 3, lanes: Int = 2) -> WatchState {
    var state = WatchState()
    let lanes = (0..<lanes).map { LaneStatus(name: "lane\($0)", concurrency: 2, running: 1, isPaused: $0 == 1) }
    state.note(
      Status(
        version: "0.1.0", pid: 1, startedAt: Date(timeIntervalSince1970: 1_772_000_000), lanes: lanes,
        counts: [.running: running, .available: 14], stores: [], spool: "/s"))
    for id in 0..<Int64(ended) {
      state.note(.example(id + 1, .completed, progress: JobProgress(records: 7, inserted: 7)), at: 0)
    }
    for id in 0..<Int64(running) {
      let source = "ein langer Name 駅駅駅 mit vielen Wörtern und noch mehr.csv"
      func progress(_ done: Int64) -> JobProgress { JobProgress(bytesDone: done, bytesTotal: 1_000_000, records: done) }
      state.note(.example(100 + id, .running, source: source, progress: progress(0)), at: 0)
      state.note(.example(100 + id, .running, source: source, progress: progress(500_000)), at: 1)
    }
    return state
  }

  private let now = Date(timeIntervalSince1970: 1_772_000_725)

  @Test("it shows the daemon, its lanes, bars of what runs with rate and time to go, and what has ended")
  func whole() {
    let lines = WatchView(state: state(), columns: 80, rows: 24, style: .plain).lines(at: now)
    #expect(lines.count == 24)
    #expect(lines[0].hasPrefix("laded 0.1.0, up 12:05: 2 running, 14 available"))
    #expect(lines.contains { $0.hasPrefix("lane1, paused") })
    let bar = lines.first { $0.hasPrefix("100 ein") } ?? ""
    #expect(bar.contains("━") && bar.contains("50 %") && bar.contains("500,000 records/s") && bar.contains("0:01 left"))
    #expect(lines.contains { $0.contains("3 stops.csv completed: 7 records, 7 inserted, in 3.00 s") })
    #expect(lines.last == "q leaves; the jobs go on")
  }

  @Test(
    "it fits every terminal, however small",
    arguments: [(80, 24), (200, 60), (40, 10), (20, 6), (12, 4), (5, 3), (1, 1), (80, 1), (3, 40)])
  func fits(_ columns: Int, _ rows: Int) {
    for state in [
      self.state(), self.state(running: 40, ended: 90, lanes: 9), self.state(running: 0, ended: 0), WatchState(),
    ] {
      for style in [Style.plain, Style(colours: true, unicode: true)] {
        let lines = WatchView(state: state, columns: columns, rows: rows, style: style).lines(at: now)
        #expect(lines.count <= rows)
        for line in lines {
          let plain = line.replacing(/\u{1B}\[[0-9;]*m/, with: "")
          #expect(plain.displayWidth <= columns, "\(plain)")
          #expect(!plain.contains("\u{1B}"), "\(plain)")
        }
      }
    }
  }

  @Test("what runs beyond the rows is counted")
  func more() {
    let lines = WatchView(state: state(running: 40), columns: 80, rows: 24, style: .plain).lines(at: now)
    let shown = lines.count { $0.contains("━") }
    #expect(shown > 3)
    #expect(lines.contains("and \(40 - shown) more"))
  }

  @Test("a daemon that is away is said to be, and nothing is said to run")
  func away() {
    var state = self.state()
    state.lost("laded isn't running: there is no socket /s.")
    let lines = WatchView(state: state, columns: 80, rows: 24, style: .plain).lines(at: now)
    #expect(lines[0].hasPrefix("laded isn't running"))
    #expect(lines.contains("not known"))
    #expect(!lines.contains { $0.contains("━") })
  }

  @Test(
    "an event from before the list doesn't bring an ended job back, and a job that runs again leaves the ended ones")
  func late() {
    var state = WatchState()
    state.begin(running: [], recent: [.example(1, .completed), .example(2, .discarded)])
    state.note(.example(1, .running), at: 0)
    #expect(state.running.isEmpty)
    var again = Job.example(2, .available)
    again.attempt = 1
    state.note(again, at: 0)
    #expect(state.recent.map(\.id) == [2, 1])
    again.state = .running
    again.attempt = 2
    state.note(again, at: 1)
    #expect(state.running.map(\.id) == [2])
    #expect(state.recent.map(\.id) == [1])
  }
}
