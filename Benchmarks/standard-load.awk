# The standard load: people as CSV, on standard output.
#
#   awk -f Benchmarks/standard-load.awk -v rows=1000000 > people.csv
#
# The same rows, to the byte, from every awk: the numbers come from a generator below (Lehmer's, with
# -v seed=N), not from awk's own. Seven columns: id ascends from 1; email is one of 27 first letters (a to z
# and _) and then the id, so an index on it grows at 27 places; note has at most 40 characters; 2 % of the
# rows have a field in quotes with a comma, a doubled quote or a newline inside.

function random(below) {
  state = (state * 48271) % 2147483647
  return int(state / 2147483647 * below)
}

function word() { return words[random(wordCount) + 1] }

BEGIN {
  if (rows == "") rows = 1000000
  state = (seed == "" ? 20240229 : seed)
  wordCount = split("barley keel ballast hold anchor cargo mill race lock tide sluice wheel oats tally crane " \
    "rope quay buoy mast stern", words, " ")
  firstCount = split("Ada Björn Chloé Dmitri Edda Farid Greta Hanna İpek Jürgen Kofi Lucía Mårten Noor Olga Priya",
    firsts, " ")
  lastCount = split("Abbott Baird Castro Dunn Eriksen Flores Grieg Hughes Ito Jansen Kaya Larsen Meyer Nkosi",
    lasts, " ")
  split("a b c d e f g h i j k l m n o p q r s t u v w x y z _", initials, " ")

  print "id,name,email,age,balance,created,note"
  for (id = 1; id <= rows; id++) {
    first = firsts[random(firstCount) + 1]
    last = lasts[random(lastCount) + 1]
    name = first " " last
    note = word() " " word() " " word()
    if (random(50) == 0) {
      kind = random(4)
      if (kind == 0) name = "\"" last ", " first "\""
      else if (kind == 1) note = "\"" word() ", " word() ", then " word() "\""
      else if (kind == 2) note = "\"the \"\"" word() "\"\" of the " word() "\""
      else note = "\"" note "\n" word() "\""
    }
    day = random(3650)
    second = random(86400)
    printf "%d,%s,%s%08d@example.org,%d,%d.%02d,%04d-%02d-%02dT%02d:%02d:%02dZ,%s\n", id, name,
      initials[random(27) + 1], id, 18 + random(80), random(20000) - 5000, random(100),
      2015 + int(day / 365), 1 + int(day % 365 / 31), 1 + day % 28,
      int(second / 3600), int(second / 60) % 60, second % 60, note
  }
}
