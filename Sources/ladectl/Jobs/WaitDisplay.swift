import ControlAPI

/// The output of `wait`. On a terminal, each running job has a line with a progress bar, and each job that has ended or will be
/// retried a permanent line. In a pipe, there is a line per change of state and per tenth of the input. Only produces text.
struct WaitDisplay: Sendable {
  /// The maximum number of bars; further running jobs are only counted.
  static let bars = 12
  /// Seconds between redraws for progress only.
  static let interval = 0.08

  let isInteractive: Bool
  /// The width of the terminal, which may change.
  var width: Int
  let style: Style

  private var region = LiveRegion()
  private var drawnAt = -Double.infinity
  private var tenths: [Int64: Int] = [:]
  /// The last line written for each job, to avoid repetition.
  private var reported: [Int64: String] = [:]

  init(isInteractive: Bool, width: Int, style: Style) {
    self.isInteractive = isInteractive
    self.width = width
    self.style = style
  }

  /// The text to write after a job changed; may be empty.
  /// - Parameter time: seconds since any fixed moment.
  mutating func text(for job: Job, _ change: JobWatch.Change, in watch: JobWatch, at time: Double) -> String {
    switch change {
    case .none: ""
    case .state:
      isInteractive
        ? redraw(watch, staying: job.state.isEnded || job.state == .retryable ? job : nil, at: time) : line(for: job)
    case .progress: isInteractive ? redraw(watch, at: time) : progressLine(for: job)
    }
  }

  private mutating func redraw(_ watch: JobWatch, at time: Double) -> String {
    guard time - drawnAt >= Self.interval else { return "" }
    return redraw(watch, staying: nil, at: time)
  }

  private mutating func redraw(_ watch: JobWatch, staying: Job?, at time: Double) -> String {
    drawnAt = time
    let running = watch.pending.filter { $0.state == .running }
    var live = running.prefix(Self.bars).map { job in
      ProgressLine(job, watch.meters[job.id]).rendered(width: width, style: style)
    }
    let others = watch.pending.count - live.count
    if others > 0 {
      let count = Quantity.count(others, live.isEmpty ? "job" : "more job")
      live.append(style("\(count) to come\(Self.obstacle(to: watch.pending))".truncated(to: width), .dim))
    }
    let lines = staying.map { [ProgressLine($0).sentence(style: style)] } ?? []
    return region.redraw(staying: lines, live: live)
  }

  /// What the waiting jobs wait for, if it is the same for all.
  private static func obstacle(to jobs: [Job]) -> String {
    let reasons = Set(jobs.filter { $0.state != .running }.map(\.waitsFor))
    return reasons.count == 1 ? (reasons.first ?? nil).map { ", waits for \($0.namingUsers.printable)" } ?? "" : ""
  }

  private mutating func line(for job: Job) -> String {
    tenths[job.id] = tenth(of: job)
    let line = ProgressLine(job).sentence(style: style) + "\n"
    return reported.updateValue(line, forKey: job.id) == line ? "" : line
  }

  private mutating func progressLine(for job: Job) -> String {
    let tenth = tenth(of: job)
    guard tenth > tenths[job.id, default: 0] else { return "" }
    return line(for: job)
  }

  private func tenth(of job: Job) -> Int { (job.progress.percent ?? 0) / 10 }
}
