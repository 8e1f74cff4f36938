# The package under test: that of `make deb`, or with LADE_CONFIGURATION=debug that of `make check`.
configuration=${LADE_CONFIGURATION:-release}
package=$LADE_REPOSITORY/.build/deb
if [[ $configuration != release ]]; then package+=-$configuration; fi
package=$(echo "$package"/lade_*.deb)
# Enough rows to interrupt an import.
many=400000
if [[ $configuration == debug ]]; then many=40000; fi
