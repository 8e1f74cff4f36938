// Reading a ticket. Rule 8 is kept here for its text: it is at most 64 KiB, it makes no more work than its length
// (YAML's aliases would let a few lines stand for millions of nodes), and nothing in it is taken for a type or a
// path before it was looked at.

import Foundation
import Yams

extension Ticket {
  /// Reads a ticket from the bytes of a `.job` file. Throws `TicketError`.
  package init(parsing bytes: [UInt8]) throws(TicketError) {
    guard bytes.count <= Ticket.longest else {
      throw .tooLarge(bytes: Int64(bytes.count), limit: Ticket.longest)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notText }
    try Ticket.refuseAliases(in: bytes)
    let root = try Ticket.compose(text)
    try self.init(root: root)
  }

  /// Aliases are refused where the nodes are known, by their anchors. But composing them hashes the keys of mappings,
  /// and a key of aliases of aliases takes time beyond all bounds; so here, where quotes and comments aren't known
  /// yet, no more of what could be aliases is let through than can do harm.
  private static func refuseAliases(in bytes: [UInt8]) throws(TicketError) {
    var seen = 0
    var line = 1
    var column = 0
    for (index, byte) in bytes.enumerated() {
      column += 1
      switch byte {
      case UInt8(ascii: "\n"):
        line += 1
        column = 0
      case UInt8(ascii: "*"):
        guard index + 1 < bytes.count, isAnchorCharacter(bytes[index + 1]) else { continue }
        seen += 1
        if seen > 16 { throw .notAllowed(what: "aliases (`*name`)", line: line, column: column) }
      default: continue
      }
    }
  }

  private static func isAnchorCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private static func compose(_ text: String) throws(TicketError) -> Node {
    do {
      // Without rules a plain scalar stays what was written: `NO` is a country, and 12:30 isn't 750.
      let parser = try Parser(yaml: text, resolver: .basic, encoding: .utf8)
      // A node holds its anchor weakly: while the parser lives, it is there.
      return try withExtendedLifetime(parser) {
        guard let root = try parser.singleRoot() else { throw TicketError.empty }
        try TicketNode.refuseAnchors(root)
        return root
      }
    } catch let error as YamlError {
      throw TicketError(error)
    } catch let error as TicketError {
      throw error
    } catch {
      throw .notYAML(line: nil, column: nil, problem: String(describing: error))
    }
  }
}

extension TicketError {
  init(_ error: YamlError) {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      self = .notYAML(line: mark.line, column: mark.column, problem: problem)
    case .reader(let problem, let offset, _, let text):
      let lines = offset.map { text.prefix($0).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) }
      self = .notYAML(line: lines?.count, column: lines?.last.map { $0.count + 1 }, problem: problem)
    case .memory:
      self = .notYAML(line: nil, column: nil, problem: "it is nested too deeply")
    case .duplicatedKeysInMapping(let keys, let context):
      self = .duplicateKey(keys.first ?? "?", line: context.mark.line)
    case .no, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
      self = .notYAML(line: nil, column: nil, problem: String(describing: error))
    }
  }
}
