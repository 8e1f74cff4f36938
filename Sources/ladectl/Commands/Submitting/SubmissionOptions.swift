import ArgumentParser
import ControlAPI
import LadeTypes

/// The options of every kind of job.
struct SubmissionOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The lane to run in.", valueName: "name"), completion: .lanes)
  var lane: String?

  @Option(parsing: .unconditional, help: ArgumentHelp("The priority; higher runs first.", valueName: "n"))
  var priority: Int?

  @Option(
    help: ArgumentHelp(
      "Don't start before this time: 2026-03-01T12:00:00Z, '2026-03-01 12:00' in local time, or relative: +90s, +10m, "
        + "+2h, +1d.",
      valueName: "time"),
    transform: { try StartTime(parsing: $0) })
  var notBefore: StartTime?

  @Option(
    help: ArgumentHelp("Discard the job if it hasn't ended by this time; same forms.", valueName: "time"),
    transform: { try StartTime(parsing: $0) })
  var deadline: StartTime?

  @Option(
    help: ArgumentHelp("Stop an attempt that takes longer: 90s, 10m, 2h, 1d.", valueName: "span"),
    transform: { try Period(parsing: $0) })
  var timeout: Period?

  @Option(
    help: ArgumentHelp(
      "Start only after this job has completed; repeatable, or a list such as 3,7-9.", valueName: "job"),
    completion: .jobs, transform: { try JobNumbers(parsing: $0) })
  var after: [JobNumbers] = []

  @Option(
    help: ArgumentHelp("Start only after this job has ended, in any state.", valueName: "job"), completion: .jobs,
    transform: { try JobNumbers(parsing: $0) })
  var afterEnd: [JobNumbers] = []

  @Option(help: ArgumentHelp("A tag to find the job by; repeatable.", valueName: "word"))
  var tag: [String] = []

  @Flag(help: "Hold the job until 'ladectl release'.")
  var hold = false

  @Option(help: ArgumentHelp("Add the job to this unfinished batch.", valueName: "n"))
  var batch: Int64?

  @Option(help: ArgumentHelp("Don't create another job while one with this key hasn't ended.", valueName: "key"))
  var uniqueKey: String?

  @Option(
    help: ArgumentHelp("A job with the key counts only for this long after submission: 1h, 1d.", valueName: "span"),
    transform: { try Period(parsing: $0) })
  var uniqueFor: Period?

  @Option(
    help: ArgumentHelp(
      "A job with the key counts only in these states, separated by commas (default: until it has ended).",
      valueName: "state,…"), completion: .jobStates, transform: { try FilterOptions.states($0) })
  var uniqueStates: [JobState]?

  @Option(help: ArgumentHelp("Maximum number of attempts.", valueName: "n"))
  var maxAttempts: Int?

  @Flag(help: "Wait until the job has ended, as 'ladectl wait' does.")
  var wait = false

  func validate() throws {
    guard uniqueKey != nil || uniqueFor == nil && uniqueStates == nil else {
      throw ValidationError("--unique-for and --unique-states go with --unique-key.")
    }
    guard (after + afterEnd).flatMap(\.ranges).allSatisfy({ $0.upperBound - $0.lowerBound < 1000 }) else {
      throw ValidationError("A job can follow a range of up to 1,000 jobs.")
    }
  }

  /// The submission with these options.
  func applied(to submission: JobSubmission) -> JobSubmission {
    var submission = submission
    submission.lane = lane
    submission.priority = priority
    submission.notBefore = notBefore?.date
    submission.deadline = deadline?.date
    submission.timeout = timeout?.seconds
    submission.after = dependencies(after, .succeeded) + dependencies(afterEnd, .ended)
    submission.tags = tag
    submission.isHeld = hold
    submission.batch = batch
    submission.uniqueKey = uniqueKey
    submission.uniquePeriod = uniqueFor?.seconds
    submission.uniqueStates = uniqueStates.map { Set($0) }
    submission.maxAttempts = maxAttempts
    return submission
  }

  private func dependencies(_ jobs: [JobNumbers], _ condition: JobDependency.Condition) -> [JobDependency] {
    jobs.flatMap(\.ranges).flatMap { range in range.map { JobDependency(job: $0, condition: condition) } }
  }
}

/// A duration on the command line: `90s`, `10m`, `2h`, `1d`; a number alone is seconds.
struct Period: Sendable, Hashable {
  let seconds: Double

  /// Parses it.
  /// - Throws: `ValidationError` that lists the accepted forms.
  init(parsing text: String) throws {
    guard let duration = Duration(parsing: text, allowsBareSeconds: true), duration > .zero else {
      throw ValidationError("'\(text)' isn't a time span; write 90s, 10m, 2h or 1d.")
    }
    seconds = duration.seconds
  }
}
