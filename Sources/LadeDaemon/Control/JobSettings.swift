import Foundation
import Jobs

/// The options of a job under the keys by which recipes and submissions say them: `delimiter`, `properties.name.column`. What
/// could give away a secret isn't among them: of a mask it says that there is one, of a database nothing.
struct JobSettings {
  /// The most that are listed.
  private static let most = 200
  /// The longest value that is shown whole.
  private static let longest = 200

  private(set) var list: [JobSetting] = []

  /// The settings of a job; none if its options can't be read, which the job itself reports.
  init(of job: Job) {
    guard let options = try? JSONDecoder().decode(Part.self, from: Data(job.options.utf8)) else { return }
    if job.kind == ImportOperation.kind, case .map(let members) = options {
      addImport(members)
    } else {
      // They are stored as they are written.
      add(options, at: [])
    }
    list.sort { $0.name < $1.name }
  }

  /// A value of the options' JSON.
  private indirect enum Part: Decodable {
    case null
    case text(String)
    case list([Part])
    case map([String: Part])

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if value.decodeNil() {
        self = .null
      } else if let flag = try? value.decode(Bool.self) {
        self = .text("\(flag)")
      } else if let number = try? value.decode(Int.self) {
        self = .text("\(number)")
      } else if let number = try? value.decode(Double.self) {
        self = .text("\(number)")
      } else if let text = try? value.decode(String.self) {
        self = .text(text)
      } else if let list = try? value.decode([Part].self) {
        self = .list(list)
      } else {
        self = .map(try value.decode([String: Part].self))
      }
    }
  }

  // MARK: Imports

  /// The keys of recipes whose stored names differ by more than their spelling.
  private static let keys = [
    "atomicity": "atomic", "isDryRun": "dry_run", "allowsEmpty": "allow_empty", "skipsKnownFiles": "skip_known_files",
    "keepsFailed": "keep_failed", "trims": "trim",
  ]
  private static let keysOfProperty = [
    "columns": "column", "defaultValue": "default", "trims": "trim", "keys": "key", "creates": "create",
  ]

  /// A recipe has the options of reading and of mapping beside the others.
  private mutating func addImport(_ members: [String: Part]) {
    for (name, value) in members {
      switch (name, value) {
      case ("from", _), ("isModeGiven", _): continue
      case ("reader", .map(let inner)), ("mapping", .map(let inner)): addImport(inner)
      case ("properties", .map(let rules)): for (property, rule) in rules { addRule(rule, of: property) }
      case ("fixedWidth", .map(let layout)): addLayout(layout)
      case ("rejectShare", .text(let share)):
        note(Self.percent(share), at: ["reject_share"])
      default: add(value, at: [Self.keys[name] ?? Self.snake(name)], spelling: Self.snake)
      }
    }
  }

  /// As a recipe writes it: `5%` for 0.05.
  private static func percent(_ share: String) -> String {
    guard let share = Double(share) else { return share }
    let percent = (share * 1e8).rounded() / 1e6
    return percent == percent.rounded() ? "\(Int(percent))%" : "\(percent)%"
  }

  private mutating func addRule(_ rule: Part, of property: String) {
    guard case .map(let members) = rule else { return }
    for (name, value) in members {
      if name == "refusesOtherValues" {
        if case .text("true") = value { note("reject", at: ["properties", property, "other_values"]) }
      } else {
        // What is below these are texts of the user's.
        add(value, at: ["properties", property, Self.keysOfProperty[name] ?? Self.snake(name)])
      }
    }
  }

  private mutating func addLayout(_ layout: [String: Part]) {
    for (name, value) in layout {
      add(value, at: [name == "columns" ? "fields" : "field_" + Self.snake(name)])
    }
  }

  // MARK: Values

  /// - Parameter spelling: how the keys below are spelt; as they are, where they are the user's.
  private mutating func add(_ value: Part, at path: [String], spelling: (String) -> String = { $0 }) {
    guard list.count < Self.most else { return }
    if path.last == "mask" { return list.append(JobSetting(path.joined(separator: "."), "masked")) }
    switch value {
    case .map(let members):
      for (name, value) in members.sorted(by: { $0.key < $1.key }) where !(path.isEmpty && name == "from") {
        add(value, at: path + [spelling(name)], spelling: spelling)
      }
    case .list(let values):
      let texts = values.compactMap { if case .text(let text) = $0 { text } else { nil } }
      if texts.count < values.count {
        for (place, value) in values.enumerated() { add(value, at: path + ["\(place + 1)"], spelling: spelling) }
      } else if !texts.isEmpty {
        note(texts.joined(separator: ", "), at: path)
      }
    case .text(let text): note(text, at: path)
    case .null: break
    }
  }

  private mutating func note(_ value: String, at path: [String]) {
    let shown = value.count > Self.longest ? value.prefix(Self.longest) + "…" : value[...]
    list.append(JobSetting(path.joined(separator: "."), String(shown)))
  }

  /// As the configuration spells names: `batch_size` of `batchSize`.
  private static func snake(_ name: String) -> String {
    name.reduce(into: "") { text, character in
      if character.isUppercase, !text.isEmpty { text += "_" }
      text += character.lowercased()
    }
  }
}
