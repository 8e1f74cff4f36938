import Jobs
import Logging

/// Events with an entry of their own in the journal's catalogue, by its number
/// (`systemd/lade.catalog`, seen with `journalctl -x`). The numbers never change.
enum JournalMessage: String, CaseIterable {
  case daemonStarted = "daemon-started"
  case daemonStopping = "daemon-stopping"
  case daemonStopped = "daemon-stopped"
  case configurationReloaded = "configuration-reloaded"
  case configurationRefused = "configuration-refused"
  case watchdogUnanswered = "watchdog-unanswered"
  case storeMigrated = "store-migrated"
  case modelEvolved = "model-evolved"
  case modelReverted = "model-reverted"
  case entryRefused = "entry-refused"
  case entryFailed = "entry-failed"
  case setOverdue = "set-overdue"
  case jobSubmitted = "job-submitted"
  case jobStarted = "job-started"
  case jobCompleted = "job-completed"
  case jobRetryable = "job-retryable"
  case jobDiscarded = "job-discarded"
  case jobCancelled = "job-cancelled"
  case jobRescued = "job-rescued"
  case recipeFresh = "recipe-fresh"
  case recipeAnomalous = "recipe-anomalous"
  case recipeLate = "recipe-late"
  case recipeStale = "recipe-stale"

  /// The metadata's key for the event of a line.
  static let key = JobLogEvent.key

  /// `MESSAGE_ID`.
  var identifier: String {
    switch self {
    case .daemonStarted: "bb368bf7346944ec8c5bfbd09d3723ba"
    case .daemonStopping: "a94f0b1261404bada5105acff6f7f01a"
    case .daemonStopped: "d10195c1967140d5be1f1016e227e95c"
    case .configurationReloaded: "db2bbadb45434650aba8d7fa468dc6e5"
    case .configurationRefused: "3db78530c03342b3ad813c4dd9515186"
    case .watchdogUnanswered: "59853885c7784199a3a8e8152e8acaca"
    case .storeMigrated: "535ab30c731c46d4b9a74195eb61258a"
    case .modelEvolved: "4be0d5a3c1f24f6a9e0f7b5cb2a3d416"
    case .modelReverted: "a7c40e1f5b7d4e6c8f3a92d1c6e8b05d"
    case .entryRefused: "e749d30dfb724b3493a87553540ffc9d"
    case .entryFailed: "f159d4edc1ce415b9480db1b9810e692"
    case .setOverdue: "4c1f0e0cf6ab4f6f8f2b8a4b0d8c95d7"
    case .jobSubmitted: "67905e6d74444d73b46269f9c62f2c8b"
    case .jobStarted: "32f1cf7d29ef424c9297c5b78ce37e31"
    case .jobCompleted: "deeb557b73f243deac3c8d1663213c3e"
    case .jobRetryable: "caf058d5394b42ef844be54ba8c9d092"
    case .jobDiscarded: "a0c3f8d3ec2648769d235c902b8cd6b6"
    case .jobCancelled: "2be7779cf8fa44ffabacb1f05f928d14"
    case .jobRescued: "c90d284fd20e4baf9527bb0126b55676"
    case .recipeFresh: "0ba841d7e42e48d885450e0f83eeb339"
    case .recipeAnomalous: "e5bb2a362170466688140101f0225c85"
    case .recipeLate: "0211d18b40474e71ae9e4083f32e28cc"
    case .recipeStale: "63558ca899f24da38c3484ba3ac63f2a"
    }
  }

  /// For a line of the daemon's own.
  func metadata(_ more: Logger.Metadata = [:]) -> Logger.Metadata {
    more.merging([Self.key: "\(rawValue)"]) { first, _ in first }
  }
}
