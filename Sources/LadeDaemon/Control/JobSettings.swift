import Foundation
import Jobs

/// The options of a job as people read them: `reader.delimiter`, `mapping.key`. What could give away a secret isn't among
/// them: of a mask it says that there is one, of a database nothing.
struct JobSettings {
  /// The most that are listed.
  private static let most = 200
  /// The longest value that is shown whole.
  private static let longest = 200

  private(set) var list: [JobSetting] = []

  /// The settings of a job; none if its options can't be read, which the job itself reports.
  init(of job: Job) {
    guard let options = try? JSONDecoder().decode(Part.self, from: Data(job.options.utf8)) else { return }
    add(options, at: [])
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

  private mutating func add(_ value: Part, at path: [String]) {
    guard list.count < Self.most else { return }
    if path.last == "mask" { return list.append(JobSetting(path.joined(separator: "."), "masked")) }
    switch value {
    case .map(let members):
      for (name, value) in members.sorted(by: { $0.key < $1.key }) where !(path.isEmpty && name == "from") {
        add(value, at: path + [Self.snake(name)])
      }
    case .list(let values):
      let texts = values.compactMap { if case .text(let text) = $0 { text } else { nil } }
      if texts.count < values.count {
        for (place, value) in values.enumerated() { add(value, at: path + ["\(place + 1)"]) }
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
