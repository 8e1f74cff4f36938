import ArgumentParser
import ControlAPI

extension CompletionKind {
  /// Job numbers.
  static var jobs: CompletionKind { jobs(in: []) }

  /// Numbers of jobs in these states.
  static func jobs(in states: [JobState]) -> CompletionKind {
    asking { await $0.jobs(in: states) }
  }

  /// Jobs that haven't ended.
  static var jobsInProgress: CompletionKind { jobs(in: JobState.allCases.filter { !$0.isEnded }) }

  /// Jobs that have ended.
  static var endedJobs: CompletionKind { jobs(in: JobState.allCases.filter(\.isEnded)) }

  static var lanes: CompletionKind { asking { await $0.lanes() } }
  static var stores: CompletionKind { asking { await $0.stores() } }
  static var recipes: CompletionKind { asking { await $0.recipes() } }
  static var entities: CompletionKind { asking { await $0.entities() } }
  static var jobStates: CompletionKind { .list(JobState.allCases.map(\.rawValue)) }

  private static func asking(_ question: @escaping @Sendable (DaemonWords) async -> [String]) -> CompletionKind {
    .custom { (words: [String], _: Int, _: String) async -> [String] in await question(DaemonWords(words)) }
  }
}
