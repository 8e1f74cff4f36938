import ControlAPI
import Yams

extension OptionValue {
  /// The option as a configuration file would have it, so that both are read by the same code.
  var node: Node {
    switch self {
    case .string(let text): Node(text, Tag(.str), .doubleQuoted)
    case .int(let number): Node(String(number), Tag(.str), .plain)
    case .double(let number): Node(String(number), Tag(.str), .plain)
    case .bool(let flag): Node(flag ? "true" : "false", Tag(.str), .plain)
    case .list(let values): Node(values.map(\.node), Tag(.seq))
    case .map(let values):
      Node(values.sorted { $0.key < $1.key }.map { (Node($0.key, Tag(.str), .doubleQuoted), $0.value.node) }, Tag(.map))
    }
  }
}
