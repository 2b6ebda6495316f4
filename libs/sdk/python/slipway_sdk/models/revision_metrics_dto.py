from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.metrics_point_dto import MetricsPointDto


T = TypeVar("T", bound="RevisionMetricsDto")


@_attrs_define
class RevisionMetricsDto:
    """
    Attributes:
        held (int): Requests that wait now, because it sleeps
        in_flight (int): Requests in flight now
        points (list[MetricsPointDto]): Oldest first; a step in which no request ended is absent
        revision (str):  Example: chat-00007.
        total (MetricsPointDto):
    """

    held: int
    in_flight: int
    points: list[MetricsPointDto]
    revision: str
    total: MetricsPointDto
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        held = self.held

        in_flight = self.in_flight

        points = []
        for points_item_data in self.points:
            points_item = points_item_data.to_dict()
            points.append(points_item)

        revision = self.revision

        total = self.total.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "held": held,
                "in_flight": in_flight,
                "points": points,
                "revision": revision,
                "total": total,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.metrics_point_dto import MetricsPointDto

        d = dict(src_dict)
        held = d.pop("held")

        in_flight = d.pop("in_flight")

        points = []
        _points = d.pop("points")
        for points_item_data in _points:
            points_item = MetricsPointDto.from_dict(points_item_data)

            points.append(points_item)

        revision = d.pop("revision")

        total = MetricsPointDto.from_dict(d.pop("total"))

        revision_metrics_dto = cls(
            held=held,
            in_flight=in_flight,
            points=points,
            revision=revision,
            total=total,
        )

        revision_metrics_dto.additional_properties = d
        return revision_metrics_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
