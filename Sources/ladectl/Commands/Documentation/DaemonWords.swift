import ArgumentParser
import ControlAPI
import Glibc

/// Completions from the running daemon: its jobs, lanes, stores and so on.
///
/// It is quick and silent: an answer that takes longer than ``patience``, or any error, yields no completions, since there is no
/// place to report anything between two keystrokes.
struct DaemonWords: Sendable {
  /// The time limit of a completion in seconds: `LADE_COMPLETION_PATIENCE`, or half a second.
  static var patience: Double {
    let said = getenv("LADE_COMPLETION_PATIENCE").flatMap { Double(String(cString: $0)) }
    return said.flatMap { $0.isFinite && $0 > 0 ? $0 : nil } ?? 0.5
  }
  /// The maximum number of jobs to offer, newest first.
  static let jobs = 100

  private let client: ControlClient
  /// The command line typed so far.
  private let words: [String]
  /// The store that it names.
  private let store: String?

  /// - Parameter words: the command line typed so far.
  init(_ words: [String]) {
    self.words = words
    func value(of option: String) -> String? {
      if let index = words.firstIndex(of: option), words.indices.contains(index + 1) { return words[index + 1] }
      return words.first { $0.hasPrefix(option + "=") }.map { String($0.dropFirst(option.count + 1)) }
    }
    let socket = value(of: "--socket") ?? value(of: "--instance").map(ConnectionOptions.path(ofInstance:))
    store = value(of: "--store")
    client = ControlClient(socketPath: ConnectionOptions.path(givenAs: socket))
  }

  /// Numbers of jobs in these states, newest first; empty for all states.
  func jobs(in states: [JobState]) async -> [String] {
    let list = await asked { try await $0.jobs(JobQuery(states: states, limit: Self.jobs)) }
    return list?.jobs.map { Self.word("\($0.id)", "\($0.title), \($0.state.rawValue)") } ?? []
  }

  func lanes() async -> [String] {
    let status = await asked { try await $0.status() }
    return status?.lanes.map { Self.word($0.name, "\($0.running) running, \($0.available) available") } ?? []
  }

  func stores() async -> [String] {
    let status = await asked { try await $0.status() }
    return status?.stores.map { Self.word($0.name, $0.path) } ?? []
  }

  func recipes() async -> [String] {
    let list = await asked { try await $0.recipes() }
    return list?.recipes.map { Self.word($0.name, "\($0.entity) of store \($0.store)") } ?? []
  }

  func schedules() async -> [String] {
    let list = await asked { try await $0.schedules() }
    return list?.schedules.map { Self.word($0.name, "\($0.kind), \($0.calendar.joined(separator: "; "))") } ?? []
  }

  /// The backups of the store that the command line names, or of the only one.
  func backups() async -> [String] {
    let named = store
    let list = await asked { client in
      try await client.backups(of: try await client.storeName(named, having: nil) ?? "")
    }
    return [Self.word("latest", "the newest")]
      + (list?.backups.map { Self.word($0.name, Quantity.bytes(Double($0.size))) } ?? [])
  }

  /// The properties of the entities that the command line names.
  func properties() async -> [String] {
    let words = words
    let stores = await asked { try await $0.stores(StoreCountQuery(counts: false)) }?.stores ?? []
    let entities = stores.flatMap(\.entities).filter { words.contains($0.name) }
    return entities.flatMap { entity in entity.properties.map { Self.word($0, "of \(entity.name)") } }
  }

  func entities() async -> [String] {
    let status = await asked { try await $0.status() }
    let found = status?.stores.flatMap { store in store.entities.map { ($0, store.name) } } ?? []
    return found.map { Self.word($0, "of store \($1)") }
  }

  /// A word with its description, in the syntax of the requesting shell.
  private static func word(_ word: String, _ description: String) -> String {
    switch CompletionShell.requesting {
    case .zsh: "\(word):\(description.printable)"
    case .fish: "\(word)\t\(description.printable)"
    default: word
    }
  }

  private func asked<Answer: Sendable>(
    _ question: @escaping @Sendable (ControlClient) async throws -> Answer
  ) async -> Answer? {
    let client = client
    // Silent by design; see above.
    return try? await withDeadline(seconds: Self.patience, waitingFor: { "" }) { try await question(client) }
  }
}

extension CompletionKind {
  /// Job numbers.
  static var jobs: CompletionKind { jobs(in: []) }

  /// Numbers of jobs in these states.
  static func jobs(in states: [JobState]) -> CompletionKind {
    asking { await $0.jobs(in: states) }
  }

  /// Jobs that haven't ended.
  static var jobsInProgress: CompletionKind { jobs(in: JobState.allCases.filter { !$0.isEnded }) }

  static var lanes: CompletionKind { asking { await $0.lanes() } }
  static var stores: CompletionKind { asking { await $0.stores() } }
  static var recipes: CompletionKind { asking { await $0.recipes() } }
  static var entities: CompletionKind { asking { await $0.entities() } }
  static var schedules: CompletionKind { asking { await $0.schedules() } }
  static var backups: CompletionKind { asking { await $0.backups() } }
  static var properties: CompletionKind { asking { await $0.properties() } }
  /// The kinds of jobs that laded has by itself; a daemon of one's own may have more.
  static var jobKinds: CompletionKind {
    .list(StandardKinds.submitted)
  }
  static var jobStates: CompletionKind { .list(JobState.allCases.map(\.rawValue)) }

  private static func asking(_ question: @escaping @Sendable (DaemonWords) async -> [String]) -> CompletionKind {
    .custom { (words: [String], _: Int, _: String) async -> [String] in await question(DaemonWords(words)) }
  }
}
