"""Models: each is an XMan subclass that reads like the notes."""
from ..errors import suggesting
from .bases import AdaptiveBasis
from .convolution import ConvolutionalNetwork
from .linear import LinearRegression, LogisticRegression, PoissonRegression
from .mlp import MLP
from .recurrent import GRU, LSTM, RNN
from .residual import ResidualMLP
from .transformer import Transformer
from .unsupervised import Autoencoder, GaussianMixture, MatrixFactorization, WordEmbeddings

__all__ = ["AdaptiveBasis", "Autoencoder", "ConvolutionalNetwork", "GRU", "GaussianMixture", "LSTM", "LinearRegression",
           "LogisticRegression", "MLP", "MatrixFactorization", "PoissonRegression", "RNN", "ResidualMLP", "Transformer",
           "WordEmbeddings"]
suggesting(__name__)
